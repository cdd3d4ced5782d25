// SPDX-License-Identifier: GPL-2.0-or-later
// What an optimizer without fused kernels launches and moves.
#pragma once

#include "predictor/timing/operator.h"

namespace dlcast {

/// Kernels for one tensor (or one list of tensors), and memory traffic over that of one fused kernel.
struct UpdateKernels {
    double launches = 1.0, traffic = 1.0;
};

/// Counted from the element-wise operations of each update rule, weight decay and the clearing of gradients included;
/// every operation reads and writes its tensors, of which caches keep about a third.
UpdateKernels update_kernels(Optimizer optimizer);

/// Lists that kernels over many tensors take: about a hundred tensors, or 320 blocks of 64 Ki elements, a launch.
double update_lists(double tensors, double parameters);

}  // namespace dlcast
