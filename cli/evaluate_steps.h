// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast evaluate steps`: forecasts for a table of training steps, and their errors where it holds measured times.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/step_errors.h"
#include "predictor/device/catalog.h"
#include "predictor/step/step_weights.h"
#include "predictor/timing/layer_time_model.h"

namespace dlcast {

struct StepsEvaluation {
    std::vector<StepError> errors;         // rows of quality A and B (or of none stated) with a measured time
    std::size_t rows = 0;                  // read
    std::vector<std::string> undescribed;  // "row_id: why"
};

/// Reads `file`, forecasts each row, writes `pred_path` (row_id,pred_step_ms,pred_fw_ms,pred_bw_ms; skipped where
/// empty). A row that cannot be described has empty forecasts. Errors: unreadable or broken table, unwritable
/// `pred_path`.
Result<StepsEvaluation> evaluate_steps(const std::string& file, const DeviceCatalog& catalog,
                                       const LayerTimeModel& model, const StepWeights& weights,
                                       const std::string& pred_path);

/// Forecasts each measured step of `file` by a fit that saw no step with the same value of `fact` ("gpu", "family",
/// "super-family", "source"), from the priors; with `one_measured`, those of which a step of the same model and
/// software was measured on another GPU, corrected by it. Finished folds stand beside `pred_path`, so that a stopped
/// run goes on. Errors as above, and a fact that folds cannot be made of.
Result<StepsEvaluation> cross_validate_steps(const std::string& file, const DeviceCatalog& catalog,
                                             const std::string& fact, bool one_measured, const std::string& pred_path);

/// Adds the verb to `evaluate`; when it is chosen, `exit_code` is set: 0 done, 1 refused input.
void add_evaluate_steps(CLI::App& evaluate, int& exit_code);

}  // namespace dlcast
