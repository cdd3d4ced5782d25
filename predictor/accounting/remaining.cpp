// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/accounting/remaining.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "predictor/step/quantile.h"

namespace dlcast {
namespace {

constexpr double z95 = 1.6448536269514722;  // normal_quantile(0.95)

// P(Z > z) of the standard normal.
double tail(double z) { return std::erfc(z / std::numbers::sqrt2) / 2; }

}  // namespace

double log_sd_of(double p50_s, double p95_s) {
    return p50_s > 0 && p95_s > p50_s ? std::log(p95_s / p50_s) / z95 : 0.0;
}

Hours hours_left(double p50_s, double p95_s, double elapsed_s, std::int64_t limit_s) {
    const double log_sd = log_sd_of(p50_s, p95_s);
    double survives = 1.0;
    if (elapsed_s > 0)
        survives = log_sd > 0 ? tail(std::log(elapsed_s / p50_s) / log_sd) : (elapsed_s < p50_s ? 1.0 : 0.0);
    const double most_s = limit_s < 0 ? HUGE_VAL : std::max(0.0, static_cast<double>(limit_s) - elapsed_s);
    const auto left_h = [&](double q) {
        // P(T > x) = (1 - q) P(T > t); normal_quantile gives -z of the small tail with all its digits.
        const double z = -normal_quantile((1 - q) * survives);
        const double left_s = std::max(0.0, p50_s * std::exp(z * log_sd) - elapsed_s);
        return std::min(left_s, most_s) / 3600;
    };
    return {left_h(0.50), left_h(0.95)};
}

}  // namespace dlcast
