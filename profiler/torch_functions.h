// SPDX-License-Identifier: GPL-2.0-or-later
// Inside of the LibTorch backend: what operators and layers share.
#pragma once

#include <torch/torch.h>

#include <memory>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/timing/operator.h"

namespace dlcast {

/// The type of data in this precision on this device. unavailable: it does not compute in it.
Result<torch::ScalarType> torch_type(Precision precision, torch::Device device);

/// The update of `weights` by their gradients. unavailable: LibTorch's C++ library has no such optimizer.
Result<std::shared_ptr<torch::optim::Optimizer>> make_torch_optimizer(std::vector<torch::Tensor> weights,
                                                                      Optimizer optimizer);

/// Scaled dot-product attention over [batch, tokens, width]: the library's fused kernel where this LibTorch has one
/// (2.0 and later), else its parts.
torch::Tensor torch_attention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v);

/// Whether that keeps no array of scores on this device.
bool torch_fuses_attention(torch::Device device);

/// The function that an elementwise operator or an activation applies.
torch::Tensor torch_function(Function function, const torch::Tensor& x);

}  // namespace dlcast
