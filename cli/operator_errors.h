// SPDX-License-Identifier: GPL-2.0-or-later
// Forecasts for measured operators, and how far off they are: shared by `evaluate ops` and the manifest of `train`.
#pragma once

#include <functional>
#include <vector>

#include "cli/error_table.h"
#include "cli/ops_table.h"
#include "predictor/timing/layer_time_model.h"

namespace dlcast {

/// What was measured beside the network for the group of a row; null where nothing was.
using OffsetsOf = std::function<const GroupOffsets*(const OpsRow&)>;

/// One time for each row, in order; a row with a fault has median 0. All described rows go through the model together.
Result<std::vector<OperatorTime>> operator_times(const std::vector<OpsRow>& rows, const LayerTimeModel& model,
                                                 const OffsetsOf& offsets_of = {});

/// The error of a row that was measured. A row that could not be described counts as 100 %.
ErrorSample operator_error(const OpsRow& row, const OperatorTime& time);

/// By source and operator, by GPU, and inside each set by source, kind of operator and GPU.
ErrorTable operator_errors(const std::vector<OpsRow>& rows, const std::vector<OperatorTime>& times);

}  // namespace dlcast
