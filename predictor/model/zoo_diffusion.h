// SPDX-License-Identifier: GPL-2.0-or-later
// Stable Diffusion: a U-Net over latents that looks at a text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/model/layer.h"

namespace dlcast {

struct TextEncoder {
    std::int64_t layers, width, heads;
};

/// By levels, the finest first; the values are Stable Diffusion 1's.
struct UNetOptions {
    std::vector<std::int64_t> widths = {320, 640, 1280, 1280};
    std::vector<std::int64_t> heads = {8, 8, 8, 8};
    std::vector<std::int64_t> depths = {1, 1, 1, 1};        // blocks of each transformer
    std::vector<bool> attends = {true, true, true, false};  // whether a level has transformers
    std::vector<bool> attends_up;                           // the same on the way up; empty: as on the way down
    bool middle = true, middle_attends = true;              // two residual blocks and a transformer, or one
    std::int64_t layers = 2;                                // residual blocks of a level, one more on the way up
    std::int64_t in_channels = 4, out_channels = 4;
    std::int64_t text_width = 768;
    std::int64_t added_width = 0;  // of a second embedding beside the time's (SDXL); 0: none
    std::vector<TextEncoder> encoders;
    bool fused = false;
};

struct DiffusionModel {
    std::string name;
    std::int64_t image_size;  // pixels
    UNetOptions options;
};
const std::vector<DiffusionModel>& diffusion_models();

/// A training step's networks: the frozen text encoders (heads, not counted) over `tokens`, then the U-Net over the
/// latents of a square image. Latents are taken as precomputed. Errors: lists of unequal length, a size that does not
/// halve evenly.
Result<ModelSpec> build_diffusion_unet(const std::string& name, std::int64_t image_size, std::int64_t tokens,
                                       const UNetOptions& options);

}  // namespace dlcast
