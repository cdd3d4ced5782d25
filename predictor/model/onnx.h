// SPDX-License-Identifier: GPL-2.0-or-later
// ONNX graphs as layers written out.
#pragma once

#include <string>

#include "predictor/base/result.h"
#include "predictor/base/value.h"
#include "predictor/model/byte_stream.h"
#include "predictor/model/open_sizes.h"

namespace dlcast {

/// { "name", "input", "layers", "assumed" } with a shape at every layer whose input is not the output before it; runs
/// of equal layers are written once with "repeat". Shapes are of one sample: the first dimension of the first input is
/// the batch, the second where an LSTM or GRU reads it time first. Open dimensions take `sizes`, or a usual size, named
/// in "assumed" as is what the file leaves open about its parameters. Errors: no readable file, operators without a
/// counterpart (all of them, by name), shapes that do not fit.
Result<Value> onnx_to_written(ByteStream& stream, const std::string& source, const OpenSizes& sizes = {});

}  // namespace dlcast
