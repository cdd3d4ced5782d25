// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>

namespace dlcast {

/// Of an image, or of a patch of one, in pixels.
struct ImageSides {
    std::int64_t height = 1, width = 1;
};

}  // namespace dlcast
