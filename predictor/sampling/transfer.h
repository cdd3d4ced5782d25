// SPDX-License-Identifier: GPL-2.0-or-later
// The new machine from few of its measurements and the source's effects.
#pragma once

#include <vector>

#include "predictor/sampling/effects.h"

namespace dlcast {

/// log value(x) = f(x) + level + sum of weight_k term_k(x) + smooth rest; see effects.h for f and the terms.
struct Transfer {
    double level = 0.0;
    std::vector<double> weights;       // one a term
    std::vector<double> inclusion;     // of each term: posterior chance that it counts, 0 to 1
    Terms measured;                    // where the smooth rest is anchored
    std::vector<double> rest_weights;  // one a measured configuration
};

/// Bayesian model averaging: every model of up to three terms and of each of a few noise levels is fitted and counts by
/// its marginal likelihood, so that a handful of measurements decides which effects differ between the machines and the
/// others are left alone. `values` are those of `measured`, in order. Errors (invalid_argument): none measured, a value
/// that is not above zero, an option missing.
/// Source: Hoeting et al., Bayesian model averaging: a tutorial, Statistical Science 14 (1999) 382-417.
Result<Transfer> fit_transfer(const Effects& effects, const Configurations& measured,
                              const std::vector<double>& values);

/// Median values on the new machine, one a configuration.
Result<std::vector<double>> predict_transfer(const Effects& effects, const Transfer& transfer,
                                             const Configurations& configurations);

}  // namespace dlcast
