// SPDX-License-Identifier: GPL-2.0-or-later
// The parts of a refinement, each with its error on measurements that it did not see.
#pragma once

#include "cli/refined_by.h"
#include "cli/say.h"
#include "cli/site_samples.h"
#include "predictor/step/step_weights.h"
#include "predictor/timing/refined_operators.h"
#include "predictor/timing/weights_manifest.h"

namespace dlcast {

/// Mean errors in percent, by device and kind of operator or "collectives", "steps". `after_factor`: the mean factor,
/// above 1, by which forecasts are then still off, either way.
struct JudgedKind : RefinedKind {
    double after_factor = 1.0;

    /// Counts one forecast in, to be averaged over held_out by `average`.
    void add(double before_s, double after_s, double measured_s);
    void average();
};
using RefinedErrors = std::vector<JudgedKind>;

/// Weights as they stand: `model` as it forecasts now, `network` without what was refined before.
struct WeightsInForce {
    const LayerTimeModel& model;
    const LayerTimeModel& network;
    const StepWeights& steps;
    const RefinedBy& by;
};

/// "linear on L40S": nothing new was measured of it, it stays as it is.
using KnownParts = std::set<std::string>;

struct FittedCalls {
    RefinedGroup group;
    std::map<OperatorKind, std::set<std::string>> ids;  // of the calls, by the kinds that the group is for
};

/// Fits every group of calls in which something is new. Only calls that do not stand in the weights already judge:
/// each by a fit to all that stand and to four fifths of the new ones (all calls of one operator together). A kind of
/// which nothing is new keeps its fit. Groups of fewer than three different operators are left out. Errors: a failing
/// network.
Result<std::vector<FittedCalls>> refine_operators(const SiteSamples& samples, const WeightsInForce& before,
                                                  RefinedErrors& errors, KnownParts& known, const Say& say);

/// Takes collectives that cannot be out of `samples` and says which: of no bytes or of more bytes, ranks or seconds
/// than weights can hold; faster than half the time that their bytes take over the stated link of the device, within
/// one node; more than largest_ratio (step_factor.h) off the cost model.
void leave_out_impossible_collectives(SiteSamples& samples, const WeightsInForce& before, const Say& say);

/// Keeps `fit_sizes` sizes of each table, fewer where the table has fewer than five fourths of it: those that leave
/// least uncertainty about the others (nccl_residual.h), which judge them where the weights do not hold them already.
/// Tables that are new replace older ones of the same group; one that the weights hold already is known. Says where
/// nothing judged them.
std::vector<RefinedCollective> refine_collectives(const SiteSamples& samples, const WeightsInForce& before,
                                                  std::size_t fit_sizes, RefinedErrors& errors, KnownParts& known,
                                                  const Say& say);

/// Errors of measured steps of whole models, and of finished jobs, against factors from all other models. `ratios` are
/// of measured time over the forecast without a site's factors. Where these make the others worse, or all are of one
/// model, each model goes by its own cases alone, and is judged by each against its others; with one case each, nothing
/// is held out. GPUs with a single case are left out.
std::vector<StepFactor> refine_factors(const std::vector<StepRatio>& ratios, const std::vector<StepFactor>& before,
                                       RefinedErrors& errors, const Say& say);

/// Of training steps of whole models among the samples (over several ranks, those that exchange gradients): time over
/// forecast. The other passes are taken out of `samples`, and steps whose model cannot be read or whose time cannot be
/// (doubtful_samples.h), which are named. Errors: a failing network.
Result<std::vector<StepRatio>> step_ratios(SiteSamples& samples, const WeightsInForce& before, const Say& say);

}  // namespace dlcast
