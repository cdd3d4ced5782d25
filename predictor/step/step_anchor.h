// SPDX-License-Identifier: GPL-2.0-or-later
// Forecasts corrected by steps that somebody measured: the same model and software on any GPU.
#pragma once

#include <vector>

#include "predictor/base/result.h"
#include "predictor/device/catalog.h"
#include "predictor/step/step_estimate.h"

namespace dlcast {

/// Corrects each of `steps` (one a query, all of one workload) by the workload's `measured` steps, as
/// anchor_correction.h says, and narrows its spread; without any, by what the site's own runs say (step_factor.h). At
/// most eight measured steps count. GPUs beyond eight are taken to stand in nodes of eight. Errors: an unknown GPU,
/// with the nearest known ones; a GPU count that the layout does not divide.
Status anchor_steps(const std::vector<StepQuery>& queries, const DeviceCatalog& catalog, const StepWeights& weights,
                    std::vector<StepEstimate>& steps);

}  // namespace dlcast
