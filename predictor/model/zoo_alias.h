// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dlcast {

/// The zoo's name of a model that another collection (timm, Hugging Face) or everyday speech calls otherwise. `key`:
/// lower case, without '-' and '_' but for '-' between digits.
std::optional<std::string> zoo_alias(std::string_view key);

}  // namespace dlcast
