// SPDX-License-Identifier: GPL-2.0-or-later
// Forecasts corrected by steps that somebody measured: the same model and software on any GPU.
#pragma once

#include <vector>

#include "predictor/base/result.h"
#include "predictor/device/catalog.h"
#include "predictor/step/step_estimate.h"

namespace dlcast {

/// The factor on a forecast that measured / forecast ratios of other steps suggest: exp(share x mean log ratio). 1 for
/// none. Of the error on a kind of model that the fit never saw, 0.85 are common to all GPUs; of a known kind's 0.4:
/// the share of one ratio, and with each further one nearer to 1.
double anchor_factor(const std::vector<double>& log_ratios, bool known_kind);

/// Multiplies each of `steps` (one a query, all of one workload) by the factor of the workload's `measured` steps,
/// those on the same GPU type in the same precision alone where there are any, and narrows its spread. Without any, by
/// what the site's own runs say (step_factor.h). At most eight
/// measured steps count. GPUs beyond eight are taken to stand in nodes of eight. Errors: an unknown GPU, with the
/// nearest known ones; a GPU count that the layout does not divide.
Status anchor_steps(const std::vector<StepQuery>& queries, const DeviceCatalog& catalog, const StepWeights& weights,
                    std::vector<StepEstimate>& steps);

}  // namespace dlcast
