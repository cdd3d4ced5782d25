// SPDX-License-Identifier: GPL-2.0-or-later
// Forecasts corrected by steps that somebody measured: the same model and software on any GPU.
#pragma once

#include <vector>

#include "predictor/base/result.h"
#include "predictor/device/catalog.h"
#include "predictor/step/step_estimate.h"

namespace dlcast {

/// The factor on a forecast that measured / forecast ratios of other steps suggest: exp(0.9 mean log ratio), as most of
/// an error, but not all of it, is common to a model and its software on all GPUs. 1 for none.
double anchor_factor(const std::vector<double>& log_ratios);

/// Multiplies each of `steps` (one a query, all of one workload) by the factor of the workload's `measured` steps,
/// those on the same GPU type alone where there are any, and narrows its spread. At most eight measured steps count.
/// GPUs beyond eight are taken to stand in nodes of eight. Errors: an unknown GPU, with the nearest known ones; a GPU
/// count that the layout does not divide.
Status anchor_steps(const std::vector<StepQuery>& queries, const DeviceCatalog& catalog, const StepWeights& weights,
                    std::vector<StepEstimate>& steps);

}  // namespace dlcast
