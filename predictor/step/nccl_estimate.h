// SPDX-License-Identifier: GPL-2.0-or-later
// A collective for the step model: seconds and their spread, with the fitted constants.
#pragma once

#include "predictor/step/link_catalog.h"
#include "predictor/step/nccl_model.h"

namespace dlcast {

/// Log-normal: exp(log median_s + z log_sd).
struct CollectiveEstimate {
    double median_s = 0.0;
    double log_sd = 0.0;
};

/// As nccl_time, in seconds. One rank costs nothing and is certain. Errors as there.
Result<CollectiveEstimate> estimate_collective(Collective collective, double bytes, int ranks_per_node, int nodes,
                                               const Fabric& fabric, const FittedCollectives& fitted);

}  // namespace dlcast
