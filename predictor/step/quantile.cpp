// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/quantile.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace dlcast {

double normal_quantile(double q) {
    q = std::clamp(q, 1e-6, 1 - 1e-6);
    // The distribution function is monotone and |z| < 5 for these q: bisection to the last bit needs no table of
    // coefficients.
    double low = -5, high = 5;
    for (int i = 0; i < 60; ++i) {
        const double z = (low + high) / 2;
        (std::erfc(-z / std::numbers::sqrt2) / 2 < q ? low : high) = z;
    }
    return (low + high) / 2;
}

double log_normal_quantile(double median_s, double log_sd, double q) {
    return median_s * std::exp(normal_quantile(q) * log_sd);
}

}  // namespace dlcast
