// SPDX-License-Identifier: GPL-2.0-or-later
// How far a step's forecast may be off because its constants are not known better.
#pragma once

#include "predictor/step/step_coefficients.h"
#include "predictor/step/step_work.h"

namespace dlcast {

/// Standard deviation of log step time from the constants' own, `deviations` on the fitting scale:
///     1.2 sqrt(sum over constants of (d log step / d constant  deviation)^2)
/// Small where the fit has met all that the step rests on; large where it rests on constants that no measured step
/// informed: another generation of GPU, kernels of a kind not seen. 1.2 since the formulas err too: by leaving out GPUs
/// and kinds of models, between 1.1 and 1.25.
double constants_log_sd(const StepWork& work, const StepCoefficients& coefficients, const StepCoefficients& deviations);

}  // namespace dlcast
