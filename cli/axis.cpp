// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/axis.h"

#include <algorithm>
#include <cmath>

namespace dlcast {
namespace {

constexpr std::size_t most_ticks = 9;

std::vector<double> decade_ticks(double least, double most, bool all) {
    std::vector<double> out;
    for (double decade = std::pow(10.0, std::floor(std::log10(least)) - 1); decade <= most * 10; decade *= 10)
        for (const double step : {1.0, 2.0, 5.0})
            if (all || step == 1.0) out.push_back(step * decade);
    return out;
}

}  // namespace

double Axis::place(double value) const {
    if (!logarithmic) return (value - low) / (high - low);
    return std::log(value / low) / std::log(high / low);
}

Axis linear_axis(double most) {
    Axis out;
    const double rough = std::max(most, 1e-12) / 5;
    const double decade = std::pow(10.0, std::floor(std::log10(rough)));
    const double step = decade * (rough <= decade ? 1 : rough <= 2 * decade ? 2 : rough <= 5 * decade ? 5 : 10);
    const double count = std::max(1.0, std::ceil(most / step - 1e-9));
    for (int i = 0; i <= static_cast<int>(count); ++i) out.ticks.push_back(i * step);
    out.high = out.ticks.back();
    return out;
}

Axis logarithmic_axis(double least, double most) {
    Axis out;
    out.logarithmic = true;
    for (const bool all : {true, false}) {
        const std::vector<double> ticks = decade_ticks(least, most, all);
        const auto first = std::prev(std::upper_bound(ticks.begin(), ticks.end(), least * (1 + 1e-9)));
        auto last = std::lower_bound(ticks.begin(), ticks.end(), most * (1 - 1e-9));
        if (last == first) ++last;
        out.ticks.assign(first, last + 1);
        if (out.ticks.size() <= most_ticks) break;
    }
    out.low = out.ticks.front();
    out.high = out.ticks.back();
    return out;
}

Axis count_axis(const std::vector<double>& counts) {
    Axis out;
    out.logarithmic = true;
    out.ticks = counts;
    out.low = counts.front();
    out.high = counts.size() > 1 ? counts.back() : 2 * counts.front();
    return out;
}

}  // namespace dlcast
