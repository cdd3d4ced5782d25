// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "predictor/base/value.h"

namespace dlcast {

/// The same layers, shorter: runs that stand several times behind each other become { "repeat": n, "layers": [..] }.
/// Only for layers that name no other and have no name of their own.
Value::Array fold_layers(Value::Array layers);

}  // namespace dlcast
