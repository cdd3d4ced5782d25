// SPDX-License-Identifier: GPL-2.0-or-later
// How long a forecast job will still run, given how long it has run already.
#pragma once

#include <cstdint>

namespace dlcast {

struct Hours {
    double p50 = 0.0, p95 = 0.0;
};

/// Hours left of a job whose run time T is log-normal with the quantiles `p50_s` and `p95_s`: the q-quantile of T - t
/// given T > t, t = `elapsed_s`, each cut at what `limit_s` (negative: none) leaves, since Slurm ends the job there. A
/// job that has not begun (t = 0) has the forecast itself.
Hours hours_left(double p50_s, double p95_s, double elapsed_s, std::int64_t limit_s);

/// Standard deviation of ln T between a median and a 95 % quantile.
double log_sd_of(double p50_s, double p95_s);

}  // namespace dlcast
