// SPDX-License-Identifier: GPL-2.0-or-later
// Inside of the LibTorch backend: operators as calls of ATen.
#pragma once

#include <torch/torch.h>

#include <functional>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/timing/operator.h"

namespace dlcast {

/// An operator's forward: its inputs, the data first and weights behind it, and what it computes of them.
struct TorchForward {
    std::vector<torch::Tensor> inputs;
    std::function<torch::Tensor(const std::vector<torch::Tensor>&)> run;
};

/// Makes up tensors of one type on one device, and of them the inputs of an operator.
struct TorchMaker {
    const Operator& op;
    torch::TensorOptions data;  // type and device

    /// Values near 1: no denormals, no overflow, and any function takes them.
    torch::Tensor values(at::IntArrayRef shape) const;
    torch::Tensor rows_cols() const { return values({op.rows, op.cols}); }
    torch::Tensor indices(std::int64_t count, std::int64_t below) const;
    /// unavailable: sizes that no call has, or an operator without a forward.
    Result<TorchForward> forward() const;

private:
    Result<TorchForward> convolution() const;
    Result<TorchForward> pooling() const;
    TorchForward elementwise() const;
    TorchForward batch_norm() const;
    TorchForward recurrent() const;
};

/// One call on one device, `work`. `fresh` are the tensors that the operator before has just left, inside of a step;
/// all others were last touched a step ago. Forward keeps its results, which go where nothing was for long; those of
/// backward go where gradients and activations were freed just before.
struct TorchCall {
    std::vector<torch::Tensor> fresh;
    std::function<std::vector<torch::Tensor>()> work;
    bool keeps_results = false;
};

/// A call of the operator in its phase; inputs lie on the device. unavailable: as above, a precision that the device
/// lacks, an optimizer that LibTorch lacks.
Result<TorchCall> make_torch_call(const Operator& op, torch::Device device);

}  // namespace dlcast
