// SPDX-License-Identifier: GPL-2.0-or-later
// Fits the step-time model and writes its constants beside the network's weights.
#pragma once

#include <string>
#include <vector>

#include "cli/training_steps.h"
#include "predictor/step/step_weights.h"

namespace dlcast {

struct TrainStepsOptions {
    std::vector<std::string> files;
    StepExclusions exclusions;
    std::string out;  // directory; made where it is missing
    FittedCollectives collectives = shipped_collectives();
    bool validate = true;  // leave GPUs and super-families out for the spread of forecasts beyond what was seen
};

/// Writes `out`/steps.toml. The same files give the same constants. A line a fold goes to stderr. Errors: files, no
/// step to learn from, an unwritable directory.
Result<StepWeights> train_steps(const TrainStepsOptions& options, const DeviceCatalog& catalog);

}  // namespace dlcast
