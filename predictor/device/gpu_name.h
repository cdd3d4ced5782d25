// SPDX-License-Identifier: GPL-2.0-or-later
// GPU names as people write them, compared on letters and digits alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dlcast {

/// A catalog key by its parts: "A100-SXM4-80GB" with "HBM2e" is the family "a100" and the words of its variant, each in
/// all its spellings: sxm4 or sxm; 80gb, 80g or 80; hbm2e.
struct NamePattern {
    std::string family;
    std::vector<std::string> words;
};
NamePattern name_pattern(std::string_view key, std::string_view memory_type);

/// Is `squeezed` (from squeeze()) the family and any of its words, in any order? "a100", "a10080gbpcie",
/// "h10080gbhbm3".
bool matches(const NamePattern& pattern, std::string_view squeezed);

/// Without the vendor and brand in front: "nvidiateslav100" -> "v100", "amdinstinctmi300x" -> "mi300x".
std::string_view without_brand(std::string_view squeezed);

}  // namespace dlcast
