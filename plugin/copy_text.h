// SPDX-License-Identifier: GPL-2.0-or-later
// C++ text into the fixed arrays of bridge.h.
#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>

namespace dlcast {

/// As much of `text` as fits, NUL-terminated and cut between characters of UTF-8. An embedded NUL ends it.
inline void copy_text(std::string_view text, char* out, std::size_t size) noexcept {
    if (size == 0) return;
    text = text.substr(0, text.find('\0'));
    std::size_t length = std::min(text.size(), size - 1);
    if (length < text.size()) {
        while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U) --length;
    }
    std::memcpy(out, text.data(), length);
    out[length] = '\0';
}

}  // namespace dlcast
