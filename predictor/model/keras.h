// SPDX-License-Identifier: GPL-2.0-or-later
// Keras 2 and 3: model.to_json() and config.json of a .keras archive.
#pragma once

#include <string>

#include "predictor/base/result.h"
#include "predictor/base/value.h"
#include "predictor/model/open_sizes.h"

namespace dlcast {

bool is_keras(const Value& tree);
/// The same network as a written-out dlcast model, `trainable` kept; each layer is let go once it is read. Errors: a
/// layer class without a counterpart, an incomplete config, more than one input.
Result<Value> keras_to_written(Value tree, const std::string& source, const OpenSizes& sizes = {});

}  // namespace dlcast
