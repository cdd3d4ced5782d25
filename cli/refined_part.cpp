// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/refined_part.h"

#include <algorithm>
#include <cmath>

namespace dlcast {

void JudgedKind::add(double before_s, double after_s, double measured_s) {
    if (held_out == 0) after_factor = 0.0;
    before_pct += 100.0 * std::fabs(before_s / measured_s - 1.0);
    after_pct += 100.0 * std::fabs(after_s / measured_s - 1.0);
    after_factor += std::max(after_s / measured_s, measured_s / after_s);
    ++held_out;
}

void JudgedKind::average() {
    if (held_out == 0) return;
    for (double* mean : {&before_pct, &after_pct, &after_factor}) *mean /= static_cast<double>(held_out);
}

}  // namespace dlcast
