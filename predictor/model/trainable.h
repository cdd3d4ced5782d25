// SPDX-License-Identifier: GPL-2.0-or-later
// Which weights train: everything, low-rank adapters, or all but some.
#pragma once

#include <string>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/model/layer.h"

namespace dlcast {

/// `trainable`: "all"; "lora:r=16" with what apply_lora() reads; "frozen:prefix,prefix" (layers whose names start so do
/// not train). Errors have no place in front.
Status apply_trainable(ModelSpec& model, const std::string& trainable, std::vector<std::string>& assumed);

}  // namespace dlcast
