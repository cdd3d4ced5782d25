// SPDX-License-Identifier: GPL-2.0-or-later
// Kernels that run at the same time count once.
#pragma once

#include <cstdint>
#include <vector>

namespace dlcast {

struct Interval {
    std::uint64_t begin_ns = 0, end_ns = 0;
};

/// Seconds covered by at least one interval.
double busy_s(std::vector<Interval> intervals);

}  // namespace dlcast
