// SPDX-License-Identifier: GPL-2.0-or-later
// The `training` object of a declaration.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/base/value.h"
#include "predictor/model/workload.h"

namespace dlcast {

/// The largest sizes of a sample that a training may state.
constexpr std::int64_t most_seq_len = 100'000'000, most_image_size = 100'000;

/// Training, and what of the object concerns the model or the data.
struct TrainingRead {
    Training training;
    std::int64_t seq_len = 0, image_size = 0;  // 0: not stated
    std::string trainable = "all";             // all, lora:r=16, frozen:prefix,prefix
    Position trainable_at;
    std::string task;  // "": by the data set
    bool batch_stated = false, optimizer_stated = false, precision_stated = false, layout_stated = false;
    std::vector<std::string> assumed;  // what a reader of another tool's file took for granted
};

/// Reads and checks every key; an absent object is an empty one. Errors: unknown key, out of range, more than one
/// duration.
Result<TrainingRead> read_training(const Value* value, const std::string& source);

/// Tasks a language model can be trained for.
const std::vector<std::string>& task_names();

}  // namespace dlcast
