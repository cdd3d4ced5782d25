// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast evaluate steps`: forecasts for a table of training steps, and their errors where it holds measured times.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/step_errors.h"
#include "predictor/device/catalog.h"
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
                                       const LayerTimeModel& model, const std::string& pred_path);

/// Adds the verb to `evaluate`; when it is chosen, `exit_code` is set: 0 done, 1 refused input.
void add_evaluate_steps(CLI::App& evaluate, int& exit_code);

}  // namespace dlcast
