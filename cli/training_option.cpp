// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/training_option.h"

#include <fmt/format.h>

#include "predictor/base/text.h"
#include "predictor/model/workload.h"
#include "predictor/samples/operator_json.h"

namespace dlcast {

CLI::Validator precision_name() {
    const auto check = [](std::string& text) -> std::string {
        if (precision_from(text)) return "";
        return fmt::format("\"{}\" is unknown; one of fp32, tf32, amp, fp16, bf16, fp8", one_line(text, 40));
    };
    return CLI::Validator(check, "");
}

CLI::Validator optimizer_name() {
    const auto check = [](std::string& text) -> std::string {
        if (optimizer_from(text)) return "";
        const std::string near = nearest_name(text, optimizer_names());
        return fmt::format("\"{}\" is unknown; {}", one_line(text, 40),
                           near.empty() ? fmt::format("one of {}", fmt::join(optimizer_names(), ", "))
                                        : fmt::format("did you mean \"{}\"?", near));
    };
    return CLI::Validator(check, "");
}

}  // namespace dlcast
