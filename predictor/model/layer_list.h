// SPDX-License-Identifier: GPL-2.0-or-later
// The plain layer list of Justus et al. (arXiv:1811.11880): { "layers": { "1": { "type": "Convolution", .. }, .. },
// "input": .. }.
#pragma once

#include <string>

#include "predictor/base/result.h"
#include "predictor/base/value.h"

namespace dlcast {

bool is_layer_list(const Value& tree);
/// The same network as a written-out dlcast model; each layer is let go once it is read. Errors: numbers that do not
/// run from 1, an unknown type.
Result<Value> layer_list_to_written(Value tree, const std::string& source);

}  // namespace dlcast
