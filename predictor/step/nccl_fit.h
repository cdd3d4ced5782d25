// SPDX-License-Identifier: GPL-2.0-or-later
// Fits the constants of the collectives' cost model to measured times.
#pragma once

#include <cstddef>
#include <span>

#include "predictor/step/nccl_model.h"

namespace dlcast {

/// One measured collective. `site` groups what was measured by the same people on the same kind of machine.
struct CollectiveObservation {
    Collective collective = Collective::all_reduce;
    double bytes = 0.0;
    int ranks_per_node = 1, nodes = 1;
    const Fabric* fabric = nullptr;
    double time_us = 0.0;
    std::size_t site = 0;
};

/// The constants with the highest posterior: log-normal priors; residuals of log(time) under a Cauchy loss, so that a
/// table of a broken machine pulls little; beside them each site's own launch (heavy-tailed) and bandwidth, which are
/// forgotten afterwards, so that the constants are those of the typical site. A site counts by the square root of its
/// rows. Levenberg-Marquardt in the logarithms of the constants, started at the priors' medians. Rows that the model
/// refuses, or without a time above 0, are left out; without rows the medians come back.
NcclConstants fit_collectives(std::span<const CollectiveObservation> rows, const NcclPriors& priors);

}  // namespace dlcast
