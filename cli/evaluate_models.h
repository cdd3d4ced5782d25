// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast evaluate models`: whole models as sums of their operators, beside measured times and published forecasts.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/error_table.h"
#include "cli/models_table.h"
#include "cli/peer_table.h"
#include "predictor/step/step_weights.h"
#include "predictor/timing/layer_time_model.h"

namespace dlcast {

struct ModelsEvaluation {
    ErrorTable errors;  // of ours, of the total
    PeerTable peers;
    std::size_t rows = 0;                  // read
    std::vector<std::string> undescribed;  // "row_id: why"
};

/// Reads both tables, asks `model` for all operators, writes `pred_path` (row_id,pred_ms,pred_fw_ms,pred_bw_ms; skipped
/// where empty). Rows in epochs are whole training steps by the step-time model with `weights`. A row without an
/// operator list, on an unknown GPU or on several GPUs has empty forecasts and is no part of the errors. Errors: an
/// unreadable or broken table, an unwritable `pred_path`, a failing model.
Result<ModelsEvaluation> evaluate_models(const std::string& models_file, const std::string& graphs_file,
                                         const DeviceCatalog& catalog, const LayerTimeModel& model,
                                         const StepWeights& weights, const std::string& pred_path);

/// Adds the verb to `evaluate`; when it is chosen, `exit_code` is set: 0 done, 1 refused input.
void add_evaluate_models(CLI::App& evaluate, int& exit_code);

}  // namespace dlcast
