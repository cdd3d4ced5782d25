// SPDX-License-Identifier: GPL-2.0-or-later
// Repeats a measurement until its median is known well enough, or time is up.
#pragma once

#include <functional>

#include "profiler/statistics.h"

namespace dlcast {

struct RepeatPolicy {
    double relative_ci = 0.02;  // of the median, that ends it
    double most_s = 2.0;        // of wall time for one point, warm-up included
    double warm_up_s = 0.02;    // at least, and at least so many runs:
    int warm_ups = 2;
    int fewest = 11;  // repetitions, unless `most_s` is over after three
    int most = 20'000;
};

/// `run_s` runs the work once and gives its seconds; `now_s` is a clock of the wall. Warm-up runs are not counted.
Statistics repeat(const std::function<double()>& run_s, const std::function<double()>& now_s,
                  const RepeatPolicy& policy);

/// Seconds of a steady clock.
double steady_now_s();

}  // namespace dlcast
