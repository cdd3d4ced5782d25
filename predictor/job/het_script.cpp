// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/het_script.h"

#include "predictor/base/text.h"

namespace dlcast {

bool gives_model_to_later_component(std::string_view script) {
    bool later = false;
    while (!script.empty()) {
        const std::size_t end = script.find('\n');
        const std::string_view line = trim(script.substr(0, end));
        script = end == std::string_view::npos ? std::string_view() : script.substr(end + 1);
        if (!line.starts_with("#")) {
            if (!line.empty()) return false;  // sbatch reads options before the first command alone
            continue;
        }
        if (!line.starts_with("#SBATCH")) continue;
        const std::string_view options = trim(line.substr(7));
        if (options == "hetjob" || options == "packjob")
            later = true;
        else if (later && options.find("--dl-model") != std::string_view::npos)
            return true;
    }
    return false;
}

}  // namespace dlcast
