// SPDX-License-Identifier: GPL-2.0-or-later
// What the command line changes in a declaration.
#pragma once

#include "predictor/base/result.h"
#include "predictor/base/value.h"
#include "predictor/model/workload.h"

namespace dlcast {

/// The declaration's tree with the overrides written into it. Each `set` is "dotted.key=value": a value that reads as
/// JSON is that, else a string; missing objects on the way are made. A duration replaces the declaration's. Errors: no
/// "=", an empty or unknown first key, a key inside something that is no object.
Result<Value> apply_overrides(const Declaration& declaration, const WorkloadOverrides& overrides);

}  // namespace dlcast
