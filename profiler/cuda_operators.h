// SPDX-License-Identifier: GPL-2.0-or-later
// Inside of the CUDA backend: operators as calls of NVIDIA's libraries, and own kernels for what these lack. Each maker
// gives a function that queues the call on the default stream; what it needs lives as long as the function.
#pragma once

#include <functional>

#include "predictor/base/result.h"
#include "predictor/timing/operator.h"

namespace dlcast {

using CudaCall = std::function<void()>;

/// Linear layers and batched products in each phase, by cuBLASLt's first heuristic choice.
Result<CudaCall> make_cublaslt_call(const Operator& op);

/// Convolutions (by cuDNN's best-placed heuristic), pooling, softmax, batch norm and dropout.
Result<CudaCall> make_cudnn_call(const Operator& op);

/// Elementwise functions, layer norm, embedding, loss, copies and casts, updates.
Result<CudaCall> make_kernel_call(const Operator& op);

/// {"cublaslt", "13.0.2"}, {"cudnn", "9.19"}
std::string cublaslt_version();
std::string cudnn_version();

}  // namespace dlcast
