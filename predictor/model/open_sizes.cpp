// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/open_sizes.h"

namespace dlcast {
namespace {

constexpr std::int64_t largest = 100'000'000;

void take(std::int64_t& size, const Value* training, const char* key) {
    const Value* stated = training ? training->find(key) : nullptr;
    if (size == 0 && stated && stated->is_integer() && stated->as_integer() > 0 && stated->as_integer() <= largest)
        size = stated->as_integer();
}

}  // namespace

OpenSizes with_training_sizes(OpenSizes stated, const Value* training) {
    take(stated.seq_len, training, "seq_len");
    take(stated.image_size, training, "image_size");
    return stated;
}

}  // namespace dlcast
