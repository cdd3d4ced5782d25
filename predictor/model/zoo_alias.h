// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dlcast {

/// The zoo's name of a model that another collection (timm, Hugging Face) or everyday speech calls otherwise. `key`:
/// lower case, without '-' and '_' but for '-' between digits.
std::optional<std::string> zoo_alias(std::string_view key);

/// Classes of a training set larger than ImageNet-1k, by what is written behind a zoo name: ".in21k" (Google's 21,843),
/// ".in22k" (21,841), ".in12k" (11,821), ".miil_in21k" (11,221); 0 where `name` has no such tag. Source: num_classes of
/// timm's config.json.
std::int64_t tagged_classes(std::string_view name);
/// The tag of the set that a collection's name ("vit_base_patch16_224.augreg_in21k") says its head was trained on; ""
/// where that is ImageNet-1k, fine-tuned or not, or not said. `name`: lower case.
std::string_view class_tag(std::string_view name);

}  // namespace dlcast
