// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/model/image_sides.h"
#include "predictor/model/layer.h"

namespace dlcast {

struct SwinOptions {
    std::int64_t patch = 4, channels = 3, width = 96, window = 7;
    double mlp_ratio = 4.0;
    std::vector<std::int64_t> depths = {2, 2, 6, 2}, heads = {3, 6, 12, 24};
    bool second = false;  // Swin V2
    bool fused = false;   // no fused kernel takes its position biases
    bool pads = false;    // the image, where patches do not divide it; else the rest is cut off
    bool qkv_bias = true, key_bias = true;
    bool absolute_positions = false, mask_token = false;
    std::int64_t classes = 1000;  // 0: features only
};
Result<ModelSpec> build_swin_transformer(const std::string& name, const ImageSides& image, const SwinOptions& options);

}  // namespace dlcast
