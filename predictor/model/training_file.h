// SPDX-License-Identifier: GPL-2.0-or-later
// How a training is run, as other tools have it in their files: DeepSpeed's ds_config.json, the arguments of Hugging
// Face's Trainer, accelerate's configuration (as JSON).
#pragma once

#include <string>

#include "predictor/base/result.h"
#include "predictor/base/value.h"

namespace dlcast {

/// The object has a key of one of these tools that dlcast's own `training` has not.
bool is_foreign_training(const Value& training);
/// The same in dlcast's keys; what says nothing about time is left out, "auto" is taken as not stated. Members that are
/// dlcast's own keys already stay and win. Errors: a value out of place.
Result<Value> to_dlcast_training(const Value& training, const std::string& source);

}  // namespace dlcast
