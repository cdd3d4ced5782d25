// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast evaluate ops`: forecasts for a table of operators, and their errors where it holds measured times.
#pragma once

#include <string>
#include <vector>

#include "cli/operator_errors.h"
#include "predictor/device/catalog.h"

namespace dlcast {

struct OpsEvaluation {
    ErrorTable errors;
    std::size_t rows = 0;                  // read
    std::vector<std::string> undescribed;  // "rid: why", each once a reason for the first row
    std::size_t undescribed_rows = 0;
};

/// Reads `files`, asks `model` for all rows, writes `pred_path` (rid,pred_ms; skipped where empty). A row that cannot
/// be described has an empty pred_ms. Errors: unreadable or broken table, unwritable `pred_path`, a failing model.
Result<OpsEvaluation> evaluate_ops(const std::vector<std::string>& files, const DeviceCatalog& catalog,
                                   const LayerTimeModel& model, const std::string& pred_path);

}  // namespace dlcast
