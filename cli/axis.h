// SPDX-License-Identifier: GPL-2.0-or-later
// Axes of a chart: where values stand, and which get a label.
#pragma once

#include <vector>

namespace dlcast {

struct Axis {
    double low = 0.0, high = 1.0;  // low < high; of a logarithmic axis both above 0
    bool logarithmic = false;
    std::vector<double> ticks;
    /// 0 at `low`, 1 at `high`.
    double place(double value) const;
};

/// From 0 to a round number at or above `most`, with four to six ticks at multiples of 1, 2 or 5.
Axis linear_axis(double most);
/// From a round number at or below `least` to one at or above `most`: ticks at 1, 2, 5 of each decade, or at decades
/// alone where these would be many. 0 < least <= most.
Axis logarithmic_axis(double least, double most);
/// Of counts that mostly double: a tick at each of `counts` (sorted, distinct, above 0).
Axis count_axis(const std::vector<double>& counts);

}  // namespace dlcast
