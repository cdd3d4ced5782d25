// SPDX-License-Identifier: GPL-2.0-or-later
// What model files of other tools leave open: the length of a sequence, the side of an image.
#pragma once

#include <cstdint>

#include "predictor/base/value.h"

namespace dlcast {

/// Sizes that the training states for open dimensions; 0: a usual size is taken.
struct OpenSizes {
    std::int64_t seq_len = 0, image_size = 0;
};

constexpr std::int64_t usual_image = 224, usual_tokens = 128;

/// `stated`, and where it is silent what "training" (may be null) says; values that are no sizes are left to its
/// reader.
OpenSizes with_training_sizes(OpenSizes stated, const Value* training);

}  // namespace dlcast
