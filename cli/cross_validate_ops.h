// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast evaluate ops --cross-validate`: each GPU, or each source, forecast by weights that saw none of its rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/evaluate_ops.h"

namespace dlcast {

struct OpsCrossValidation {
    std::vector<std::string> files;
    std::string fact;               // "gpu" or "source"
    std::vector<std::string> only;  // folds to run; all where empty
    int fit_rows = 0;               // of each kind of a left-out GPU, measured before the others are forecast
    bool fit_chosen = false;        // those that tell most of the kind (choose_operators.h) instead of random ones
    std::int64_t seed = 1;
    int members = 1;
    double effort = 1.0;      // multiplies the epochs
    std::string work;         // finished folds; made where it is missing
    std::string pred_path;    // rid,pred_ms of all rows of the folds; none where empty
    std::string module_path;  // dlcast_torch.so
};

/// Trains a fold's weights where `work` does not hold them yet, forecasts its rows, and tells the errors by fold, GPU,
/// source and operator. A fold is a device of the catalog, under all names of it. With `fit_rows`, that many rows
/// of each group (measured_group.h: convolutions, linear and batched products, elementwise and row-wise operators) fit
/// its constants first, and are no part of the errors. Errors: unreadable tables, an unknown fold, no LibTorch module,
/// an unwritable folder.
Result<OpsEvaluation> cross_validate_ops(const OpsCrossValidation& options, const DeviceCatalog& catalog);

}  // namespace dlcast
