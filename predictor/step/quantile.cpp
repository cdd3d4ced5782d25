// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/quantile.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace dlcast {

// A start to 4.5e-4 (Abramowitz & Stegun, 26.2.23), then steps of Halley's method, each of which triples the digits.
double normal_quantile(double q) {
    q = std::clamp(q, 1e-6, 1 - 1e-6);
    const double tail = std::min(q, 1 - q), t = std::sqrt(-2 * std::log(tail));
    double z = (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t;
    for (int i = 0; i < 2; ++i) {
        const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
        const double step = (std::erfc(-z / std::numbers::sqrt2) / 2 - tail) / density;
        z -= step / (1 + z * step / 2);
    }
    return q < 0.5 ? z : -z;
}

double log_normal_quantile(double median_s, double log_sd, double q) {
    return median_s * std::exp(normal_quantile(q) * log_sd);
}

}  // namespace dlcast
