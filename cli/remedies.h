// SPDX-License-Identifier: GPL-2.0-or-later
// What would make a training fit that does not fit: changes that were forecast, not guessed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/prediction.h"

namespace dlcast {

/// Options to add to the same command line, and the forecast with them.
struct Remedy {
    std::string options;  // "--batch-size 16 --grad-accum 2"
    int gpus = 1;
    double memory_bytes = 0.0, device_bytes = 0.0;
    double samples_per_s = 0.0;
    std::optional<double> run_time_s;  // p50, where a duration is declared
};

/// Of a prediction that its GPU's memory does not hold: a smaller batch with accumulation, bf16, activation
/// checkpointing and ZeRO, each by itself; where none of these suffices, together; where that does not suffice either,
/// more GPUs with ZeRO 3. Only what fits, the fastest first; empty where nothing does, or where the prediction fits.
std::vector<Remedy> find_remedies(const PredictOptions& options, const PredictSite& site, const Prediction& prediction);

}  // namespace dlcast
