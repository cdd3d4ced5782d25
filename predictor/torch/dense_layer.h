// SPDX-License-Identifier: GPL-2.0-or-later
// One fully connected layer over plain arrays, in the widest vectors that the processor has.
#pragma once

#include <vector>

namespace dlcast {

inline constexpr int lanes = 16;      // outputs computed together: a panel
inline constexpr int block_rows = 8;  // rows computed together

/// y[rows][panels * lanes] = act(x[rows][x_stride] * weight + bias); act is x * sigmoid(x) (SiLU) where `activate`,
/// else none. `weight`: panels of [in][lanes]; `bias`: panels of [lanes]; `rows` is a multiple of block_rows. x and y
/// do not overlap.
void dense_layer(const float* x, int rows, int in, int x_stride, const float* weight, const float* bias, int panels,
                 bool activate, float* y);

/// The same for each width of vectors that this processor has, the widest first, which dense_layer() takes. They differ
/// by rounding alone.
std::vector<decltype(&dense_layer)> dense_layer_kernels();

}  // namespace dlcast
