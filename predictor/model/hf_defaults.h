// SPDX-License-Identifier: GPL-2.0-or-later
// What transformers takes where a config is silent.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace dlcast {

struct ClassDefault {
    const char *family, *key;
    std::int64_t number;         // of a flag 0 or 1
    const char* text = nullptr;  // where the key holds one
};

/// The default of any of `keys` in the family's configuration class; nullptr where it is none of its own (half of the
/// width, say), or dlcast's. Source: the configuration classes of transformers 4, configuration_*.py (its 5 ties mT5
/// always).
const ClassDefault* find_class_default(std::string_view family, std::initializer_list<const char*> keys);

}  // namespace dlcast
