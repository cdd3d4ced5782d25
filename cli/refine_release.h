// SPDX-License-Identifier: GPL-2.0-or-later
// The weights directory that a refinement starts from, and the one that it makes.
#pragma once

#include <memory>
#include <string>

#include "cli/refined_by.h"
#include "predictor/step/refined_steps.h"
#include "predictor/step/step_weights.h"
#include "predictor/timing/refined_operators.h"
#include "predictor/timing/weights_manifest.h"

namespace dlcast {

struct StartWeights {
    WeightsManifest manifest;
    RefinedOperators operators;
    RefinedBy by;
    std::unique_ptr<LayerTimeModel> model, network;  // as it forecasts, and without what was refined before
    StepWeights steps;
};

/// All that is in `directory`, read once. Errors: files that cannot be read.
Result<StartWeights> open_start(const std::string& module_path, const std::string& directory);

/// Into `dir`: the network of `from`, and what `now` and `steps` say. Errors: figures that could not be read again;
/// an unwritable place.
Status write_release(const std::string& dir, const std::string& from, const StartWeights& now,
                     const RefinedSteps& steps);

}  // namespace dlcast
