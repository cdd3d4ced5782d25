// SPDX-License-Identifier: GPL-2.0-or-later
// Quantiles of the log-normal distribution that every forecast time follows.
#pragma once

namespace dlcast {

/// z with P(Z <= z) = q for the standard normal Z; q is clamped to [1e-6, 1 - 1e-6].
double normal_quantile(double q);
/// The q-quantile of a log-normal time: median_s exp(z log_sd).
double log_normal_quantile(double median_s, double log_sd, double q);

}  // namespace dlcast
