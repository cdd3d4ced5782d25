// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/busy_time.h"

#include <algorithm>

namespace dlcast {

double busy_s(std::vector<Interval> intervals) {
    std::sort(intervals.begin(), intervals.end(),
              [](const Interval& a, const Interval& b) { return a.begin_ns < b.begin_ns; });
    std::uint64_t covered_ns = 0, end_ns = 0;
    for (const Interval& i : intervals) {
        if (i.end_ns <= end_ns) continue;
        covered_ns += i.end_ns - std::max(i.begin_ns, end_ns);
        end_ns = i.end_ns;
    }
    return static_cast<double>(covered_ns) / 1e9;
}

}  // namespace dlcast
