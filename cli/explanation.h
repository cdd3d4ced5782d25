// SPDX-License-Identifier: GPL-2.0-or-later
// A workload in words and as JSON: its layers, its training, and what of it was stated.
#pragma once

#include <string>

#include "predictor/model/workload.h"

namespace dlcast {

/// Tables of layers and of training values; each of the latter with its origin: the place in the file, the data set, or
/// a default.
std::string explain_text(const Declaration& declaration, const Workload& workload);
/// {"model", "family", "parameters", "trainable_parameters", "forward_flops", "layers": [..], "training": [{"key",
/// "value", "origin"}], "assumed": [..], "warnings": [..]}
Value explain_value(const Declaration& declaration, const Workload& workload);

}  // namespace dlcast
