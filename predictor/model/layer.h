// SPDX-License-Identifier: GPL-2.0-or-later
// A layer after shape inference: kind, shapes of one sample, parameters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "predictor/model/shape.h"

namespace dlcast {

enum class LayerKind {
    conv2d,
    linear,
    embedding,
    batch_norm,
    layer_norm,
    rms_norm,
    group_norm,
    activation,
    softmax,
    dropout,
    max_pool,
    avg_pool,
    global_avg_pool,
    add,
    multiply,
    concat,
    flatten,
    reshape,
    upsample,
    attention,
    lstm,
    gru,
    loss,
};

struct Layer {
    std::string name;
    LayerKind kind = LayerKind::linear;
    Shape input, output;
    std::int64_t kernel_h = 0, kernel_w = 0, stride = 1,
                 groups = 1;                             // convolution, pooling; LSTM: groups are directions
    std::int64_t heads = 0, kv_heads = 0, head_dim = 0;  // attention (scores, softmax, weighted sum; no projections)
    std::int64_t vocab = 0;                              // embedding table rows; classes of a loss
    std::int64_t kv_tokens = 0;                          // attention over other keys; 0: over its own tokens
    std::int64_t experts = 0;  // a linear layer in so many copies, each for its part of the rows
    std::string function;      // activation: relu, gelu, ...; conv2d: transposed; attention: its style
    bool bias = false;
    bool causal = false;
    bool fused = false;      // attention by one fused kernel
    bool trainable = true;   // false: no weight gradient
    bool tied = false;       // its weight is another layer's and counts no parameters
    bool dropout = false;    // attention: its probabilities are dropped out
    bool head = false;       // a task's head, beside the published network
    bool input_grad = true;  // false: its input is data, whatever trains before it
    int block = -1;          // the repeated unit it belongs to (transformer block, residual block); -1: none
    std::uint64_t parameters = 0;
};

/// Ordered layers of one network. `parameters` counts tied weights once and leaves heads out (the published figure);
/// `trainable_parameters` counts whatever is updated.
struct ModelSpec {
    std::string name;
    std::string family;  // zoo family ("resnet", "bert"); empty for a model written out
    std::vector<Layer> layers;
    std::uint64_t parameters = 0;
    std::uint64_t trainable_parameters = 0;
    std::int64_t seq_len = 0;     // tokens of a sample; 0: not a sequence model
    std::int64_t image_size = 0;  // pixels; 0: not an image model
};

const char* to_string(LayerKind kind);
/// Multiply-adds x 2 of one sample, forward: matrix products, convolutions and attention.
double forward_flops(const Layer& layer);
double forward_flops(const ModelSpec& model);

}  // namespace dlcast
