// SPDX-License-Identifier: GPL-2.0-or-later
// Arithmetic on the shape of one sample, in double so that absurd sizes are seen before they overflow.
#pragma once

#include <string>

#include "predictor/model/layer.h"

namespace dlcast {

/// Product of the dimensions.
double elements(const Shape& shape);
/// Elements but the last dimension: tokens of a sequence, 1 for a vector.
double rows_of(const Shape& shape);
/// "[3, 224, 224]"
std::string to_string(const Shape& shape);

}  // namespace dlcast
