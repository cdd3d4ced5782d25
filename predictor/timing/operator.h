// SPDX-License-Identifier: GPL-2.0-or-later
// The unit whose time is predicted: one call of one operator, one phase, with all its sizes. Layers are lowered to
// these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "predictor/device/device.h"

namespace dlcast {

enum class OperatorKind {
    conv2d,       // also 1-d and transposed, and grouped
    linear,       // out[m,n] = in[m,k] w[k,n]
    bmm,          // `batch` times out[m,n] = a[m,k] b[k,n]
    attention,    // fused (flash) attention: batch = sequences x heads, m = queries, n = keys a query sees on average
                  // (half of them under a causal mask), k = head dimension
    elementwise,  // rows x cols elements
    softmax,      // rows x cols
    layer_norm,   // rows x cols; also RMSNorm
    batch_norm,   // rows = samples x height x width, cols = channels; also group norm
    pooling,      // rows x cols outputs, window kernel_h x kernel_w
    embedding,    // rows tokens of width cols from a table of vocab rows
    dropout,      // rows x cols
    loss,         // cross entropy and the like: rows x cols logits
    recurrent,    // one LSTM or GRU layer over the sequence: batch, m = steps, k = input, n = hidden
    copy,         // rows x cols elements moved; Function::other: cast to another width
    optimizer,    // update of rows x cols parameters
};

/// What is computed by an elementwise operator (and, for matrix products and convolutions, applied to the result).
enum class Function {
    none,
    add,
    mul,
    div,
    pow,
    add_scalar,
    mul_scalar,
    div_scalar,
    pow_scalar,
    relu,
    gelu,
    tanh,
    sigmoid,
    silu,
    other
};

/// backward of a matrix product or convolution stands as two: the gradient of the data and of the weight. A product has
/// its own m, k, n then (data: m x n x k, weight: n x m x k of the forward's); a convolution keeps its forward sizes.
/// `backward` is for operators that have a single backward kernel. train_step = forward, loss, backward and update in
/// one measurement (Justus et al. 2018).
enum class Phase { forward, backward, backward_data, backward_weight, update, train_step };

enum class Optimizer { none, sgd, momentum, adagrad, adadelta, rmsprop, adam, adamw, adafactor, lamb, lars };

struct Operator {
    OperatorKind kind = OperatorKind::elementwise;
    Function function = Function::none;
    Phase phase = Phase::forward;
    Precision precision = Precision::fp32;
    Optimizer optimizer = Optimizer::none;

    std::int64_t batch = 1;              // samples (conv2d) or matrices (bmm)
    std::int64_t m = 0, k = 0, n = 0;    // matrix products
    std::int64_t in_ch = 0, out_ch = 0;  // convolutions
    std::int64_t in_h = 0, in_w = 0, out_h = 0, out_w = 0;
    std::int64_t kernel_h = 0, kernel_w = 0, stride = 1, groups = 1;
    std::int64_t rows = 0, cols = 0, vocab = 0;  // row-wise operators
    bool bias = false;
    bool channels_last = false;

    bool operator==(const Operator&) const = default;
};

/// Of all fields, for tables of distinct operators.
std::size_t hash_of(const Operator& op);

/// `count` equal calls.
struct OperatorUse {
    Operator op;
    double count = 1.0;
};

/// Floating-point operations of one call (a multiply-add is two; the direct algorithm for convolutions):
/// linear 2mkn; bmm 2*batch*m*k*n; conv2d 2*batch*out_h*out_w*kernel_h*kernel_w*in_ch/groups*out_ch.
double flops(const Operator& op);
/// Bytes moved at least: inputs, weights and outputs once each, in the widths of the precision.
double bytes(const Operator& op);
/// Bytes of one element of data in this precision (amp, fp16, bf16: 2; fp8: data still 2, products 1).
double element_bytes(Precision precision);

const char* to_string(OperatorKind kind);
const char* to_string(Function function);
const char* to_string(Phase phase);
const char* to_string(Optimizer optimizer);

}  // namespace dlcast
