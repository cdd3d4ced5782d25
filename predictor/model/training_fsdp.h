// SPDX-License-Identifier: GPL-2.0-or-later
// PyTorch's FSDP as accelerate and Hugging Face's Trainer configure it.
#pragma once

#include <string>

#include "predictor/model/training_converter.h"

namespace dlcast {

/// Reads "fsdp" (a text, a list or a switch) and "fsdp_config" (keys with and without "fsdp_" before them).
/// `distributed_by`: what accelerate's distributed_type names, "" where nothing. Errors: a value out of place.
Status read_fsdp(const Value& in, const std::string& distributed_by, TrainingConverter& c);

}  // namespace dlcast
