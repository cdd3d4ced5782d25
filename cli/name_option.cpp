// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/name_option.h"

#include <fmt/format.h>

#include <algorithm>

#include "predictor/base/text.h"

namespace dlcast {

CLI::Validator one_of(std::vector<std::string> names) {
    const std::string listed = fmt::format("{}", fmt::join(names, ", "));
    const auto check = [names = std::move(names), listed](std::string& text) -> std::string {
        if (std::find(names.begin(), names.end(), text) != names.end()) return "";
        return fmt::format("\"{}\" should be one of {}", one_line(text, 40), listed);
    };
    return CLI::Validator(check, "{" + listed + "}");
}

}  // namespace dlcast
