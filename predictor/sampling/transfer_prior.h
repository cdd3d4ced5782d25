// SPDX-License-Identifier: GPL-2.0-or-later
// What is believed of the log ratio new machine / source before anything is measured, shared by the choice of
// configurations and by the model that is fitted to them.
#pragma once

#include "predictor/sampling/effects.h"

namespace dlcast {

/// Standard deviations, log units.
struct TransferPrior {
    double level = 1.0;          // both machines over all: a factor of e
    double term = 0.1;           // weight of one term that is in the model
    double local = 0.05;         // smooth rest that no term explains, times Terms::spread
    double noise = 0.03;         // expected of a measurement, times Terms::spread; fitted models try others
    double least_noise = 0.003;  // a stopwatch's
    double caution = 1.5;        // the choice of configurations allows for weights this much larger
    std::size_t most_terms = 3;  // in one model
};

/// Covariance of the smooth rest at two configurations, of tables that may differ.
double local_covariance(const TransferPrior& prior, const Effects& effects, const Terms& a, std::size_t i,
                        const Terms& b, std::size_t j);

}  // namespace dlcast
