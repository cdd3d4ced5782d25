// SPDX-License-Identifier: GPL-2.0-or-later
// What an operator leaves open of its sliding window: padding, and of a pooling the sides of its output.
#pragma once

#include "predictor/base/result.h"
#include "predictor/timing/operator.h"

namespace dlcast {

/// Padding on either side that makes `out` of `in`; -1 where none does.
std::int64_t padding_for(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride);

struct PoolingWindow {
    std::int64_t kernel_h = 1, kernel_w = 1, out_h = 1, out_w = 1, pad_h = 0, pad_w = 0;
};

/// A pooling holds the product of its output's sides (`cols`): they are taken to be as the input's. A window over the
/// whole image has one result a channel. unavailable: no padding makes such an output.
Result<PoolingWindow> pooling_window(const Operator& op);

}  // namespace dlcast
