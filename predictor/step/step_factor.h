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
    double scatter_log_sd = 0;  // of a model: how far its own cases lie apart beyond their noise; comes on top
};

/// How far runs of one job differ.
inline constexpr double usual_run_log_sd = 0.1;

/// One model on one GPU: the median of log(measured / forecast) over its runs.
struct StepRatio {
    std::string gpu, family, model;  // `model` is empty where a name alone is known that others may use too
    double log_ratio = 0.0;
    int runs = 1;
    double run_log_sd = usual_run_log_sd;  // of one run; beyond the usual, runs to come scatter as far
    std::string what = {};                 // for messages
};

/// Of a measured time over its forecast, either way: what lies farther off is a mistake of one of them.
inline constexpr double largest_ratio = 1000.0;

/// Of a step that was measured by itself: how a training later differs from it.
inline constexpr double measured_step_log_sd = 0.05;

/// Tells models apart: "resnet50, 25557032 parameters".
std::string model_identity(const ModelSpec& model);

/// Factors of every GPU, (GPU, family) and model that ratios are about, as their expectations when
///     log ratio = gpu + family on it + model + runs,
/// each part normal around 0 with a standard deviation of 0.2, 0.12, 0.08 and run_log_sd / sqrt(runs): a single short
/// job moves little, many of one kind move that kind, and a step measured by itself moves its own model nearly wholly.
/// A model without a family is a family of its own. Ratios of infinite size must not occur. Where cases of one model
/// lie farther apart than their runs explain, all variances of its runs are stretched by Birge's ratio,
///     max(1, (2 + chi^2) / (2 + cases - 1)),    chi^2 = sum of (ratio - mean)^2 / variance of its runs,
/// as if two more cases had the expected scatter: it is believed less, and its forecasts spread as far as its cases.
/// Source: R. T. Birge, Phys. Rev. 40 (1932) 207-227.
std::vector<StepFactor> fit_step_factors(const std::vector<StepRatio>& ratios);

/// What a forecast for this model on this GPU is multiplied by; 1 where nothing is known of the GPU.
double step_factor(const std::vector<StepFactor>& factors, std::string_view gpu, std::string_view family,
                   std::string_view model = "");

/// The factor of the model itself; null where it has none.
const StepFactor* model_factor(const std::vector<StepFactor>& factors, std::string_view gpu, std::string_view family,
                               std::string_view model);

/// What its log_sd becomes: sqrt((spread_share log_sd)^2 + scatter_log_sd^2) where the model has a factor of its own.
double refined_log_sd(const std::vector<StepFactor>& factors, std::string_view gpu, std::string_view family,
                      std::string_view model, double log_sd);

}  // namespace dlcast
