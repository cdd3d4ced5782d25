// SPDX-License-Identifier: GPL-2.0-or-later
// The file formats a model may come in, told by content and brought to one: dlcast JSON.
#pragma once

#include <string>

#include "predictor/base/result.h"
#include "predictor/base/value.h"
#include "predictor/model/open_sizes.h"

namespace dlcast {

/// { "model": name | { "layers": [..] } | { "model_type": .. }, "dataset": .., "training": .. } of any known form of
/// file. "model" is there; of a foreign format only what matters is kept. Errors: no known form; unknown top-level key.
Result<Value> to_dlcast_json(Value tree, const std::string& source, const OpenSizes& sizes = {});

}  // namespace dlcast
