// SPDX-License-Identifier: GPL-2.0-or-later
// Models whose parts are too many to count by hand in a line.
#include "tests/model/public_counts.h"

namespace {

// The tables of github.com/facebookresearch/ConvNeXt-V2 and dinov2, and the safetensors of the models' pages there.
constexpr PublicCount vision[] = {
    {"convnextv2_atto", 3'708'400},  {"convnextv2_base", 88'717'800}, {"convnextv2_large", 197'956'840},
    {"convnextv2_tiny", 28'635'496}, {"dinov2-base", 86'580'480},     {"dinov2-large", 304'368'640},
    {"dinov2-small", 22'056'576},
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
