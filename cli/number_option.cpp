// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/number_option.h"

#include <fmt/format.h>

#include <cmath>

#include "predictor/base/text.h"

namespace dlcast {

CLI::Validator whole_number(std::int64_t min, std::int64_t max) {
    const auto check = [min, max](std::string& text) -> std::string {
        const auto number = parse_number(text);
        const bool inside = number && *number >= static_cast<double>(min) && *number <= static_cast<double>(max);
        if (!inside || *number != std::floor(*number))
            return fmt::format("\"{}\" should be a whole number from {} to {}", text, min, max);
        text = fmt::format("{}", static_cast<std::int64_t>(*number));  // CLI11 reads no exponents
        return "";
    };
    return CLI::Validator(check, "");
}

CLI::Validator number_between(double min, double max) {
    const auto check = [min, max](std::string& text) { return number_fault(text, min, max); };
    return CLI::Validator(check, "");
}

}  // namespace dlcast
