// SPDX-License-Identifier: GPL-2.0-or-later
// Public models by the names people know: torchvision, timm and Hugging Face.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/model/layer.h"

namespace dlcast {

/// What a training asks of a model; 0 or empty: the model's public default.
struct BuildOptions {
    std::int64_t image_size = 0;
    std::int64_t seq_len = 0;
    std::int64_t classes = 0;
    std::int64_t masked_tokens = 0;  // of a masked language model: positions its head sees
    std::string task;                // task of a language model, see task_names()
    bool task_by_data_set = false;   // nobody stated it: models that write text go on writing it
    std::string framework;           // software that runs it: decides which kernels are fused
    bool compile = false;
};

/// The zoo's own spelling of `name`, or nothing. Organisation and case are aside, '-' and '_' too unless digits stand
/// on both sides; then a few other names of the same layers ("-instruct", timm's names).
std::optional<std::string> find_zoo_name(std::string_view name);

/// Builds the model named `name` (as find_zoo_name gives it). Sentences about defaults taken are added to `assumed`.
Result<ModelSpec> build_zoo_model(const std::string& name, const BuildOptions& options,
                                  std::vector<std::string>& assumed);

}  // namespace dlcast
