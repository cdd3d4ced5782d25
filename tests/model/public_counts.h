// SPDX-License-Identifier: GPL-2.0-or-later
// Parameters of public models, from outside of this repository: what the zoo is held against.
#pragma once

#include <cstdint>
#include <vector>

struct PublicCount {
    const char* name;  // as the zoo spells it
    std::uint64_t parameters;
};

/// Image models, from torchvision and timm (and the release pages of YOLO).
std::vector<PublicCount> image_counts();
/// Models of which others print the count.
std::vector<PublicCount> hub_counts();
/// Models counted by hand, matrix by matrix, from the sizes in their papers or configs.
std::vector<PublicCount> derived_counts();
std::vector<PublicCount> derived_llama_counts();
