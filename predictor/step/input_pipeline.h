// SPDX-License-Identifier: GPL-2.0-or-later
// A data loader that cannot keep up with the GPUs.
#pragma once

#include <vector>

#include "predictor/step/step_estimate.h"

namespace dlcast {

/// How fast one worker of a data loader prepares samples, by kind of data, and the workers of a GPU. A rate of 0 is not
/// known and bounds nothing.
struct InputRates {
    double images_per_s = 0.0, texts_per_s = 0.0;
    int workers_per_gpu = 4;
};

/// Seconds in which the loaders of `gpus` GPUs prepare `samples`: samples / (rate x workers x GPUs); 0 for no rate.
double input_s(const ModelSpec& model, double samples, int gpus, const InputRates& rates);

/// Adds to each of `steps` (one a query) the time that GPUs wait for samples: loaders work while a step runs, so that
/// they cost what they take longer.
void add_input_waits(const std::vector<StepQuery>& queries, const InputRates& rates, std::vector<StepEstimate>& steps);

}  // namespace dlcast
