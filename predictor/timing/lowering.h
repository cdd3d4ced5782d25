// SPDX-License-Identifier: GPL-2.0-or-later
// Layers to operators: which kernels a layer runs forward and backward for a batch, in a precision.
#pragma once

#include <vector>

#include "predictor/model/workload.h"
#include "predictor/timing/operator.h"

namespace dlcast {

/// The kernels of one layer for one micro-batch. Views, flattening and the backward of an addition cost nothing.
/// backward is empty where nothing at or below the layer trains.
struct LayerOperators {
    std::vector<OperatorUse> forward;
    std::vector<OperatorUse> backward;
};

/// One entry for each layer of the model, for `batch` samples on one GPU, under the training's precision, layout and
/// attention kind. Backward stops where no layer below trains.
std::vector<LayerOperators> lower(const ModelSpec& model, const Training& training, std::int64_t batch);

/// The weight update of one step (and, under amp and fp16, the casts of weights and gradients of one micro-step).
std::vector<OperatorUse> lower_update(const ModelSpec& model, const Training& training);

/// Bytes of activations one sample keeps for backward, by layer.
std::vector<double> saved_activation_bytes(const ModelSpec& model, const Training& training);

}  // namespace dlcast
