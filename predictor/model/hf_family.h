// SPDX-License-Identifier: GPL-2.0-or-later
// Families of Hugging Face's models by model_type.
#pragma once

#include <string>

#include "predictor/model/hf_config.h"

namespace dlcast {

/// nullptr: none of this model_type.
const HfFamily* find_family(const std::string& type);
/// The model_type whose layers those of `type` are.
std::string canonical_type(const std::string& type);

}  // namespace dlcast
