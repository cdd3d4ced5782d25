// SPDX-License-Identifier: GPL-2.0-or-later
// Inside of the LibTorch backend: layers of a model with weights of their own.
#pragma once

#include <torch/torch.h>

#include <functional>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/model/layer.h"

namespace dlcast {

/// What the layers of one network share.
struct TorchWeights {
    torch::TensorOptions data;  // type and device
    std::vector<torch::Tensor> trained, frozen;

    torch::Tensor add(at::IntArrayRef shape, double deviation, const Layer& layer);
    torch::Tensor add_constant(std::int64_t size, double value, const Layer& layer);
    /// A weight of this shape that another layer holds; undefined where there is none.
    torch::Tensor shared(at::IntArrayRef shape) const;
};

/// Computes the output, [batch, shape of a sample...], of the layer's inputs: one for most layers, two for additions
/// and products, three (queries, keys, values) for attention.
using TorchLayer = std::function<torch::Tensor(const std::vector<torch::Tensor>&)>;

/// unavailable: LibTorch has no such layer, or its sizes belong to no call.
Result<TorchLayer> make_torch_layer(const Layer& layer, std::int64_t batch, TorchWeights& weights);

/// [batch, shape...]
std::vector<std::int64_t> with_batch(std::int64_t batch, const Shape& shape);

}  // namespace dlcast
