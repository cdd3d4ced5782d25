// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/model/layer.h"

namespace dlcast {

struct SwinOptions {
    std::int64_t patch = 4, channels = 3, width = 96, window = 7, mlp_ratio = 4;
    std::vector<std::int64_t> depths = {2, 2, 6, 2}, heads = {3, 6, 12, 24};
    bool second = false;          // Swin V2
    bool fused = false;           // no fused kernel takes its position biases
    std::int64_t classes = 1000;  // 0: features only
};
/// A Swin transformer on a square image.
Result<ModelSpec> build_swin_transformer(const std::string& name, std::int64_t image_size, const SwinOptions& options);

}  // namespace dlcast
