// SPDX-License-Identifier: GPL-2.0-or-later
// Apart from the other text helpers, as libc++ 14 (which the fuzzers are built with) cannot read real numbers.
#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "predictor/base/text.h"

namespace dlcast {

std::optional<double> parse_number(std::string_view text) {
    double out = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(out)) return std::nullopt;
    return out;
}

std::string number_fault(std::string_view text, double min, double max) {
    const auto number = parse_number(text);
    if (number && *number >= min && *number <= max) return "";
    return fmt::format("\"{}\" should be a number from {:g} to {:g}", one_line(text, 60), min, max);
}

}  // namespace dlcast
