// SPDX-License-Identifier: GPL-2.0-or-later
// How much longer steps take at a site than forecast, by GPU and kind of model: learnt from finished jobs and measured
// steps, with shrinkage.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dlcast {

/// Of one kind of model on one GPU, or of a GPU as such where `family` is empty.
struct StepFactor {
    std::string gpu, family;  // catalog key; ModelSpec::family
    double log_factor = 0.0;  // of the GPU's own factor for a family: what comes on top
    int cases = 0;            // models that say so
};

/// One model on one GPU: the median of log(measured / forecast) over its runs.
struct StepRatio {
    std::string gpu, family, model;
    double log_ratio = 0.0;
    int runs = 1;
};

/// Factors of every GPU and every (GPU, family) that ratios are about, as their expectations when
///     log ratio = gpu + family on it + model + runs,
/// each part normal around 0 with a standard deviation of 0.2, 0.12, 0.08 and 0.1 (a run): a single short job moves
/// little, many of one kind move that kind. Ratios of infinite size must not occur.
std::vector<StepFactor> fit_step_factors(const std::vector<StepRatio>& ratios);

/// What a forecast for this kind of model on this GPU is multiplied by; 1 where nothing is known of the GPU.
double step_factor(const std::vector<StepFactor>& factors, std::string_view gpu, std::string_view family);

}  // namespace dlcast
