// SPDX-License-Identifier: GPL-2.0-or-later
// The parts of a refinement, each with its error on measurements that it did not see.
#pragma once

#include "cli/site_samples.h"
#include "predictor/step/step_weights.h"
#include "predictor/timing/refined_operators.h"
#include "predictor/timing/weights_manifest.h"

namespace dlcast {

/// Mean errors in percent, by device and kind of operator or "collectives", "steps".
using RefinedErrors = std::vector<RefinedKind>;

/// Weights as they stand: `model` as it forecasts now, `network` without what was refined before.
struct WeightsInForce {
    const LayerTimeModel& model;
    const LayerTimeModel& network;
    const StepWeights& steps;
};

/// Fits every group of calls. Each call is judged by a fit to four fifths of the others (all calls of one operator
/// stand together); groups of fewer than three different operators are left out. Errors: a failing network.
Result<std::vector<RefinedGroup>> refine_operators(const SiteSamples& samples, const WeightsInForce& before,
                                                   RefinedErrors& errors);

/// Keeps `fit_sizes` sizes of each table, fewer where the table has fewer than five fourths of it: those that leave
/// least uncertainty about the others (nccl_residual.h), which judge them. Tables that are new replace older ones of
/// the same group.
std::vector<RefinedCollective> refine_collectives(const SiteSamples& samples, const WeightsInForce& before,
                                                  std::size_t fit_sizes, RefinedErrors& errors);

/// Errors of measured steps of whole models, and of finished jobs, against factors from all others. `ratios` are of
/// measured time over the forecast without a site's factors. GPUs with a single case are left out.
std::vector<StepFactor> refine_factors(const std::vector<StepRatio>& ratios, const std::vector<StepFactor>& before,
                                       RefinedErrors& errors);

/// Of whole steps among the samples: time over forecast. `notes` gets those whose model cannot be read. Errors: a
/// failing network.
Result<std::vector<StepRatio>> step_ratios(const SiteSamples& samples, const WeightsInForce& before,
                                           std::vector<std::string>& notes);

}  // namespace dlcast
