// SPDX-License-Identifier: GPL-2.0-or-later
// Fits the constants of the step-time model to measured steps, from what is known beforehand.
#pragma once

#include <vector>

#include "predictor/step/step_physics.h"

namespace dlcast {

struct MeasuredStepWork {
    StepWork work;
    double measured_s = 0.0;
    double weight = 1.0;  // of its squared residual, against a prior's
};

struct StepFit {
    StepCoefficients coefficients{};
    StepCoefficients deviations = prior_deviations();  // standard deviation that rows and prior leave each constant
    double objective = 0.0;
    int iterations = 0;
};

/// Minimises sum(weight rho(r / noise)) + sum(((c - prior) / prior_sd)^2) / 2 over all constants c, with r =
/// log(forecast / measured), noise 0.12 and rho the pseudo-Huber loss. Always starts at the priors: the same rows give
/// the same constants. The deviations are Laplace's: roots of the diagonal of the inverse of the objective's curvature
/// there; a constant that no row has met keeps its prior's. Source: Levenberg-Marquardt with reweighting; Nocedal &
/// Wright, Numerical Optimization (2006), ch. 10.
StepFit fit_steps(const std::vector<const MeasuredStepWork*>& rows);

}  // namespace dlcast
