// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/step_doubt.h"

#include <cmath>

#include "predictor/step/step_physics.h"

namespace dlcast {
namespace {

constexpr double stretch = 1.2;

}  // namespace

double constants_log_sd(const StepWork& work, const StepCoefficients& coefficients,
                        const StepCoefficients& deviations) {
    const StepDual step = step_slopes(work, coefficients).step_s;
    double squares = 0;
    for (std::size_t i = 0; i < constant_count; ++i) {
        const double moved = step.slope[i] * deviations[i];
        squares += moved * moved;
    }
    return step.value > 0 ? stretch * std::sqrt(squares) / step.value : 0.0;
}

}  // namespace dlcast
