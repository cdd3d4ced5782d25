// SPDX-License-Identifier: GPL-2.0-or-later
// What predictor/base/number.cpp does, for libc++ 14, whose from_chars reads whole numbers alone.
#include <cmath>
#include <cstdlib>

#include "predictor/base/text.h"

namespace dlcast {

std::optional<double> parse_number(std::string_view text) {
    // strtod takes more than from_chars: white space, a plus sign, hexadecimal digits, words.
    if (text.empty() || text.find_first_not_of("0123456789+-.eE") != std::string_view::npos || text[0] == '+')
        return std::nullopt;
    const std::string copy(text);
    char* end = nullptr;
    const double out = std::strtod(copy.c_str(), &end);
    if (end != copy.c_str() + copy.size() || !std::isfinite(out)) return std::nullopt;
    return out;
}

}  // namespace dlcast
