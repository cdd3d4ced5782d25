// SPDX-License-Identifier: GPL-2.0-or-later
// Layers to operators: which kernels a layer runs forward and backward for a batch, in a precision.
#pragma once

#include <vector>

#include "predictor/model/workload.h"
#include "predictor/timing/operator.h"

namespace dlcast {

/// The kernels of one layer for one micro-batch. Views and flattening cost nothing; the backward of an addition is the
/// sum of the two gradients where the tensor forked. backward is empty where nothing at or below the layer trains.
struct LayerOperators {
    std::vector<OperatorUse> forward;
    std::vector<OperatorUse> backward;
};

/// One entry for each layer of the model, for a micro-batch of `batch` samples on one GPU that holds the whole model,
/// under the training's precision, layout and compilation; shares of tp, cp and pp and recomputation are the caller's.
/// Backward stops where no layer below trains. Casts of autocast (inputs, weights, gradients) stand with their layers.
/// A forward-only training drops dropout and loss.
std::vector<LayerOperators> lower(const ModelSpec& model, const Training& training, std::int64_t batch);

/// The same for one layer; `after_trained`: a layer before it in its model trains.
LayerOperators lower_layer(const Layer& layer, const Training& training, std::int64_t batch, bool after_trained);
/// Number of the first layer that trains; the count of layers where none does.
std::size_t first_trained_layer(const ModelSpec& model);

/// The weight update of one step: rows = trained parameters, cols = 1, gradient zeroing included. Empty where nothing
/// trains or the optimizer is `none`.
std::vector<OperatorUse> lower_update(const ModelSpec& model, const Training& training);

/// Bytes of activations one sample keeps for backward, by layer, on one GPU that holds the whole model and recomputes
/// nothing; shares of tp, cp and pp and activation checkpointing are the caller's. Nothing is kept below the first
/// trained layer, nor the input of a frozen product. Source of the list: Korthikanti et al., arXiv:2205.05198,
/// section 4.
std::vector<double> saved_activation_bytes(const ModelSpec& model, const Training& training);

/// Of these, what an attention layer keeps of its scores: softmax, dropout and casts; a fused kernel keeps a sum a row.
double attention_score_bytes(const Layer& layer, const Training& training);

}  // namespace dlcast
