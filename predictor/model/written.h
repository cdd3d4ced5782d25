// SPDX-License-Identifier: GPL-2.0-or-later
// A model with its layers written out: { "name", "input": [3, 32, 32], "layers": [ { "type": "conv2d", .. }, .. ] }.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "predictor/base/reader.h"
#include "predictor/base/result.h"
#include "predictor/base/value.h"
#include "predictor/model/layer.h"

namespace dlcast {

/// Layers with inferred shapes; a loss is added where the last layer is none. `seq_len` > 0 replaces the tokens of a
/// sequence input. Errors carry the layer's place: unknown type (with the nearest known), unknown or missing key,
/// shapes that do not fit, more than 100,000 layers after "repeat".
Result<ModelSpec> build_written_model(const Value& model, const std::string& source, std::int64_t seq_len,
                                      std::vector<std::string>& assumed);

/// Appends what an importer took for granted: the sentences under "assumed", which is marked as known.
void read_assumed(ObjectReader& r, std::vector<std::string>& assumed);

/// Known values of "type".
std::vector<std::string> layer_type_names();

}  // namespace dlcast
