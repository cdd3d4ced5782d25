// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/durations.h"

#include <fmt/format.h>

#include <algorithm>

#include "predictor/base/text.h"

namespace dlcast {

std::vector<std::string> format_durations(const std::vector<double>& seconds) {
    struct Unit {
        const char* name;
        double seconds, below_s;  // format_duration's unit for less than this
    };
    constexpr double most = 600;
    std::vector<std::string> out;
    const auto [least, longest] = std::minmax_element(seconds.begin(), seconds.end());
    if (least == seconds.end()) return out;
    for (const Unit unit : {Unit{"s", 1, 90}, Unit{"min", 60, 3600}}) {
        if (!(*least < unit.below_s && *longest < most * unit.seconds)) continue;
        for (const double s : seconds) out.push_back(fmt::format("{:.0f} {}", s / unit.seconds, unit.name));
        return out;
    }
    for (const double s : seconds) out.push_back(format_duration(s));
    return out;
}

}  // namespace dlcast
