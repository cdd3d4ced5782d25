// SPDX-License-Identifier: GPL-2.0-or-later
// What repetitions of one measurement say.
#pragma once

#include <vector>

namespace dlcast {

struct Statistics {
    int repetitions = 0;
    int outliers = 0;  // beyond Tukey's outer fences: three interquartile ranges off the quartiles
    double median_s = 0.0;
    double relative_ci = 0.0;  // half width of the median's 95 % confidence interval, over the median
    double fastest_s = 0.0, slowest_s = 0.0;
};

/// Of at least one time; all of them count, outliers too. The interval of the median lies between the order statistics
/// (n - 1.96 sqrt n) / 2 and 1 + (n + 1.96 sqrt n) / 2 and needs no distribution; below six times it is their range.
/// Source: Hoefler & Belli, SC15, section 3.1.3; Tukey, Exploratory Data Analysis (1977).
Statistics statistics_of(std::vector<double> times_s);

}  // namespace dlcast
