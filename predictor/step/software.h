// SPDX-License-Identifier: GPL-2.0-or-later
// What a training framework and its libraries make of the time of kernels.
#pragma once

#include "predictor/model/workload.h"
#include "predictor/timing/operator.h"

namespace dlcast {

struct Software {
    double host_s_per_kernel = 0.0;    // the host cannot issue kernels faster than this
    double step_s = 0.0;               // once a step: loop, logging, gradient scaling, zeroing
    double overlap = 1.0;              // share of backward behind which gradients can hide
    double tensor_overlap = 0.0;       // share of tensor-parallel traffic that hides behind products
    double exchange_efficiency = 1.0;  // of the links, through the framework's communication layer
    double elementwise_factor = 1.0;   // time of element-wise and normalising kernels; below 1 where they are fused
    double product_factor = 1.0;       // time of matrix products and convolutions
};

/// By the framework's name as it is commonly written ("pytorch", "pytorch-22.09", "tensorflow2+horovod", "nemo", ...)
/// and whether the model is compiled. Unknown frameworks are taken for eager PyTorch.
Software software_of(const Training& training);

/// The factor of `software` for an operator's time.
double software_factor(const Software& software, const Operator& op);

}  // namespace dlcast
