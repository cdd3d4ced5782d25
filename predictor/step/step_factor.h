// SPDX-License-Identifier: GPL-2.0-or-later
// How much longer steps take at a site than forecast, by GPU, kind of model and model: learnt from finished jobs and
// measured steps, with shrinkage.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dlcast {

struct ModelSpec;

/// Of one kind of model on one GPU, of a GPU as such where `family` is empty, or of one model where `model` is not.
struct StepFactor {
    std::string gpu, family;    // catalog key; ModelSpec::family
    double log_factor = 0.0;    // what comes on top of the GPU's own factor, of a model on top of its family's too
    int cases = 0;              // models that say so
    std::string model = {};     // model_identity
    double spread_share = 1.0;  // of a model: what remains of a forecast's log_sd
};

/// One model on one GPU: the median of log(measured / forecast) over its runs.
struct StepRatio {
    std::string gpu, family, model;  // `model` is empty where a name alone is known that others may use too
    double log_ratio = 0.0;
    int runs = 1;
    double run_log_sd = 0.1;  // of one run
};

/// Of a step that was measured by itself: how a training later differs from it.
inline constexpr double measured_step_log_sd = 0.05;

/// Tells models apart: "resnet50, 25557032 parameters".
std::string model_identity(const ModelSpec& model);

/// Factors of every GPU, (GPU, family) and model that ratios are about, as their expectations when
///     log ratio = gpu + family on it + model + runs,
/// each part normal around 0 with a standard deviation of 0.2, 0.12, 0.08 and run_log_sd / sqrt(runs): a single short
/// job moves little, many of one kind move that kind, and a step measured by itself moves its own model nearly wholly.
/// A model without a family is a family of its own. Ratios of infinite size must not occur.
std::vector<StepFactor> fit_step_factors(const std::vector<StepRatio>& ratios);

/// What a forecast for this model on this GPU is multiplied by; 1 where nothing is known of the GPU.
double step_factor(const std::vector<StepFactor>& factors, std::string_view gpu, std::string_view family,
                   std::string_view model = "");

/// What remains of its log_sd.
double step_spread_share(const std::vector<StepFactor>& factors, std::string_view gpu, std::string_view family,
                         std::string_view model);

}  // namespace dlcast
