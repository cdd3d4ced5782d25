// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/precision_option.h"

#include <fmt/format.h>

#include "predictor/base/text.h"
#include "predictor/model/workload.h"

namespace dlcast {

CLI::Validator precision_name() {
    const auto check = [](std::string& text) -> std::string {
        if (precision_from(text)) return "";
        return fmt::format("\"{}\" is unknown; one of fp32, tf32, amp, fp16, bf16, fp8", one_line(text, 40));
    };
    return CLI::Validator(check, "");
}

}  // namespace dlcast
