// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/statistics.h"

#include <algorithm>
#include <cmath>

namespace dlcast {
namespace {

// By linear interpolation between order statistics, 0 <= q <= 1.
double quantile(const std::vector<double>& sorted, double q) {
    const double at = q * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const auto above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

Statistics statistics_of(std::vector<double> times_s) {
    std::sort(times_s.begin(), times_s.end());
    const double q1 = quantile(times_s, 0.25), q3 = quantile(times_s, 0.75);
    const double fence = 3.0 * (q3 - q1);
    Statistics out;
    out.repetitions = static_cast<int>(times_s.size());
    out.outliers = static_cast<int>(
        std::count_if(times_s.begin(), times_s.end(), [&](double t) { return t < q1 - fence || t > q3 + fence; }));
    out.median_s = quantile(times_s, 0.5);
    out.fastest_s = times_s.front();
    out.slowest_s = times_s.back();
    const double n = static_cast<double>(times_s.size());
    const double reach = 1.96 * std::sqrt(n);
    // Ranks from 1.
    const auto low = static_cast<std::size_t>(std::max(1.0, std::floor((n - reach) / 2.0)));
    const auto high = static_cast<std::size_t>(std::min(n, std::ceil(1.0 + (n + reach) / 2.0)));
    out.relative_ci = (times_s[high - 1] - times_s[low - 1]) / 2.0 / out.median_s;
    return out;
}

}  // namespace dlcast
