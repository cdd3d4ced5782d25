// SPDX-License-Identifier: GPL-2.0-or-later
// Latent diffusion (Rombach et al., arXiv:2112.10752).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/model/layer.h"

namespace dlcast {

/// Stable Diffusion 2 for `image_size` pixels and `tokens` of text: the frozen text encoder, then the UNet that trains.
/// Images are taken as latents computed beforehand. `parameters` counts the UNet alone, as its page does.
Result<ModelSpec> build_stable_diffusion_2(const std::string& name, std::int64_t image_size, std::int64_t tokens,
                                           bool fused);

}  // namespace dlcast
