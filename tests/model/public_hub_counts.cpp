// SPDX-License-Identifier: GPL-2.0-or-later
// Models whose parts are too many to count by hand in a line.
#include <array>

#include "tests/model/count_formulas.h"

namespace {

using hand_counts::Count;

// ConvNeXt V2 (Woo et al., arXiv:2301.00808; models/convnextv2.py of github.com/facebookresearch/ConvNeXt-V2, whose
// README prints 3.7, 28.6, 89 and 198 M): patches of 4 pixels with a norm; blocks of a depthwise 7 x 7 convolution, a
// norm, C to 4C with a global response norm (2 x 4C), 4C to C; a norm and a convolution of 2 x 2 between stages; a norm
// and 1,000 classes at the end.
constexpr Count convnextv2(const std::array<Count, 4>& width, const std::array<Count, 4>& depth) {
    Count sum = 3 * 16 * width[0] + width[0] + 2 * width[0];
    for (std::size_t i = 0; i < 4; ++i) {
        const Count C = width[i];
        sum += depth[i] * ((49 * C + C) + 2 * C + (4 * C * C + 4 * C) + 2 * 4 * C + (4 * C * C + C));
        if (i < 3) sum += 2 * C + 4 * C * width[i + 1] + width[i + 1];
    }
    return sum + 2 * width[3] + width[3] * 1000 + 1000;
}
static_assert(convnextv2({40, 80, 160, 320}, {2, 2, 6, 2}) == 3'708'400);

// DINOv2 (Oquab et al., arXiv:2304.07193; dinov2/models/vision_transformer.py of github.com/facebookresearch/dinov2,
// whose README prints 21, 86 and 300 M): patches of 14 pixels, a class and a mask token, 37 x 37 + 1 positions; blocks
// with two layer scales; a norm.
constexpr Count dinov2(Count d, Count L) {
    const Count patches = 3 * 14 * 14 * d + d, tables = 2 * d + (37 * 37 + 1) * d;
    return patches + tables + L * (hand_counts::encoder_block(d, 4 * d) + 2 * d) + 2 * d;
}
static_assert(dinov2(384, 12) == 22'056'576);

constexpr PublicCount vision[] = {
    {"convnextv2_atto", convnextv2({40, 80, 160, 320}, {2, 2, 6, 2})},
    {"convnextv2_base", convnextv2({128, 256, 512, 1024}, {3, 3, 27, 3})},
    {"convnextv2_large", convnextv2({192, 384, 768, 1536}, {3, 3, 27, 3})},
    {"convnextv2_tiny", convnextv2({96, 192, 384, 768}, {3, 3, 9, 3})},
    {"dinov2-base", dinov2(768, 12)},
    {"dinov2-large", dinov2(1024, 24)},
    {"dinov2-small", dinov2(384, 12)},
};

// Printed by who counts the U-Net's parameters in diffusers: "unet params = 2567463684" (SDXL), 859,520,964 (the first
// Stable Diffusion; Segmind's distilled ones state it as their teacher's), 865,910,724 (the second).
constexpr PublicCount diffusion[] = {
    {"stable-diffusion-v1-4", 859'520'964},
    {"stable-diffusion-v1-5", 859'520'964},
    {"stable-diffusion-2", 865'910'724},
    {"stable-diffusion-2-1", 865'910'724},
    {"stable-diffusion-2-base", 865'910'724},
    {"stable-diffusion-2-1-base", 865'910'724},
    {"stable-diffusion-xl-base-1.0", 2'567'463'684},
};

// Neural collaborative filtering over MovieLens 20M: 138,493 users and 26,744 films, factors of 64 for the product;
// tables of 128 for the layers 256, 256, 128, 64; one output over both.
constexpr std::uint64_t neural_collaborative_filtering =
    (138'493 + 26'744) * (64 + 128) + (256 * 256 + 256) + (256 * 128 + 128) + (128 * 64 + 64) + (64 + 64) + 1;

}  // namespace

std::vector<PublicCount> hub_counts() {
    std::vector<PublicCount> all(std::begin(vision), std::end(vision));
    all.insert(all.end(), std::begin(diffusion), std::end(diffusion));
    all.push_back({"ncf", neural_collaborative_filtering});
    return all;
}
