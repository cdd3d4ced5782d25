// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/timing/operator.h"

namespace dlcast {
namespace {

double product(std::int64_t a, std::int64_t b) { return static_cast<double>(a) * static_cast<double>(b); }

double convolution_weights(const Operator& op) {
    return product(op.kernel_h, op.kernel_w) * product(op.in_ch, op.out_ch) /
           static_cast<double>(op.groups > 0 ? op.groups : 1);
}

double convolution_inputs(const Operator& op) { return product(op.batch, op.in_ch) * product(op.in_h, op.in_w); }
double convolution_outputs(const Operator& op) { return product(op.batch, op.out_ch) * product(op.out_h, op.out_w); }

// An LSTM has four gates, a GRU three; both are counted as the LSTM, the costlier.
constexpr double recurrent_gates = 4;

// Reads and writes of each element. Backward of a product reads the gradient and the other factor; of a function, the
// gradient and what was saved.
double elementwise_accesses(const Operator& op) {
    const bool backward = op.phase != Phase::forward;
    switch (op.function) {
        case Function::add:
        case Function::mul:
        case Function::div:
        case Function::pow:
            return 3;
        case Function::add_scalar:
        case Function::mul_scalar:
        case Function::div_scalar:
            return 2;
        default:
            return backward ? 3 : 2;
    }
}

// Bytes of one parameter's update: the parameter, each state and the gradient, read or written in fp32, and the
// gradient zeroed. Adam: 7 accesses (p, m and v twice, g once) and the zeroing.
double update_bytes(Optimizer optimizer) {
    switch (optimizer) {
        case Optimizer::none:
            return 0;
        case Optimizer::sgd:
            return 16;
        case Optimizer::momentum:
        case Optimizer::adagrad:
            return 24;
        case Optimizer::adafactor:
            return 20;
        case Optimizer::adam:
        case Optimizer::adamw:
            return 32;
        case Optimizer::lars:
            return 32;  // momentum, and two norms
        case Optimizer::adadelta:
        case Optimizer::rmsprop:
            return 36;  // with a momentum buffer, as image models train
        case Optimizer::lamb:
            return 56;  // Adam, an update kept aside, and two norms
    }
    return 0;
}

}  // namespace

double element_bytes(Precision precision) {
    return precision == Precision::fp32 || precision == Precision::tf32 ? 4.0 : 2.0;
}

double flops(const Operator& op) {
    const double rows_cols = product(op.rows, op.cols);
    const double three_fold = op.phase == Phase::train_step ? 3.0 : 1.0;  // forward, and two products backward
    switch (op.kind) {
        case OperatorKind::conv2d:
            return three_fold * 2.0 * product(op.batch, op.out_h) * static_cast<double>(op.out_w) *
                   convolution_weights(op);
        case OperatorKind::linear:
            return three_fold * 2.0 * product(op.m, op.k) * static_cast<double>(op.n);
        case OperatorKind::bmm:
            return three_fold * 2.0 * product(op.batch, op.m) * product(op.k, op.n);
        // Two products forward; backward computes the scores again and has four more.
        case OperatorKind::attention:
            return (op.phase == Phase::forward ? 4.0 : 10.0) * product(op.batch, op.m) * product(op.k, op.n);
        case OperatorKind::recurrent:
            return (op.phase == Phase::forward ? 2.0 : 4.0) * recurrent_gates * product(op.batch, op.m) *
                   product(op.n, op.k + op.n);
        case OperatorKind::softmax:
            return 5.0 * rows_cols;
        case OperatorKind::layer_norm:
            return 8.0 * rows_cols;
        case OperatorKind::batch_norm:
            return 6.0 * rows_cols;
        case OperatorKind::pooling:
            return rows_cols * product(op.kernel_h, op.kernel_w);
        case OperatorKind::loss:
            return 6.0 * rows_cols;
        case OperatorKind::optimizer:
            return 10.0 * rows_cols;
        case OperatorKind::elementwise:
        case OperatorKind::dropout:
            return rows_cols;
        case OperatorKind::embedding:
        case OperatorKind::copy:
            return 0.0;
    }
    return 0.0;
}

double bytes(const Operator& op) {
    const double e = element_bytes(op.precision);
    const bool forward = op.phase == Phase::forward;
    const double rows_cols = product(op.rows, op.cols);
    const double three_fold = op.phase == Phase::train_step ? 3.0 : 1.0;
    switch (op.kind) {
        case OperatorKind::conv2d:
            return three_fold * e * (convolution_inputs(op) + convolution_weights(op) + convolution_outputs(op));
        case OperatorKind::linear: {
            const double factor = op.precision == Precision::fp8 ? 1.0 : e;  // of both factors; the result stays wide
            return three_fold * (factor * (product(op.m, op.k) + product(op.k, op.n)) + e * product(op.m, op.n));
        }
        case OperatorKind::bmm:
            return three_fold * e * static_cast<double>(op.batch) *
                   (product(op.m, op.k) + product(op.k, op.n) + product(op.m, op.n));
        // Queries and output, keys and values; backward reads these and the gradient and writes three gradients.
        case OperatorKind::attention:
            return (forward ? 1.0 : 2.5) * e * static_cast<double>(op.batch) *
                   (2.0 * product(op.m, op.k) + 2.0 * product(op.n, op.k));
        case OperatorKind::recurrent:
            return (forward ? 1.0 : 2.0) * e *
                   (product(op.batch, op.m) * static_cast<double>(op.k + (recurrent_gates + 1) * op.n) +
                    recurrent_gates * product(op.n, op.k + op.n));
        case OperatorKind::elementwise:
            return elementwise_accesses(op) * e * rows_cols;
        case OperatorKind::softmax:
            return (forward ? 2.0 : 3.0) * e * rows_cols;
        // Backward reads input and gradient twice: for the data, and for scale and shift.
        case OperatorKind::layer_norm:
            return (forward ? 2.0 : 5.0) * e * rows_cols;
        case OperatorKind::batch_norm:
            return (forward ? 3.0 : 5.0) * e * rows_cols;
        case OperatorKind::pooling:
            return e * (rows_cols + convolution_inputs(op)) * (forward ? 1.0 : 1.5);
        // Backward fills the table's gradient with zeros, then adds the rows.
        case OperatorKind::embedding:
            return forward ? e * 2.0 * rows_cols : e * (product(op.vocab, op.cols) + 3.0 * rows_cols);
        case OperatorKind::dropout:
            return (2.0 * e + 1.0) * rows_cols;  // and a mask of one byte
        case OperatorKind::loss:
            return (forward ? 3.0 : 2.0) * e * rows_cols;
        // A cast (`other`) reads one width and writes the other: 4 and 2 bytes, or 2 and 1 before an fp8 product.
        case OperatorKind::copy:
            if (op.function != Function::other) return 2.0 * e * rows_cols;
            return (op.precision == Precision::fp8 ? 3.0 : 6.0) * rows_cols;
        case OperatorKind::optimizer:
            // Half-precision weights have an fp32 master copy: the gradient is unscaled and the weight written again.
            return (update_bytes(op.optimizer) + (op.precision == Precision::fp16 ? 8.0 : 0.0)) * rows_cols;
    }
    return 0.0;
}

std::size_t hash_of(const Operator& op) {
    std::uint64_t hash = 0xcbf29ce484222325u;
    const auto mix = [&hash](auto value) {
        hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x100000001b3U;
    };  // FNV-1a by words
    mix(op.kind), mix(op.function), mix(op.phase), mix(op.precision), mix(op.optimizer);
    for (const std::int64_t size :
         {op.batch, op.m, op.k, op.n, op.in_ch, op.out_ch, op.in_h, op.in_w, op.out_h, op.out_w, op.kernel_h,
          op.kernel_w, op.stride, op.groups, op.rows, op.cols, op.vocab})
        mix(size);
    mix(op.bias), mix(op.channels_last);
    return hash;
}

const char* to_string(OperatorKind kind) {
    switch (kind) {
        case OperatorKind::conv2d:
            return "conv2d";
        case OperatorKind::linear:
            return "linear";
        case OperatorKind::bmm:
            return "bmm";
        case OperatorKind::attention:
            return "attention";
        case OperatorKind::elementwise:
            return "elementwise";
        case OperatorKind::softmax:
            return "softmax";
        case OperatorKind::layer_norm:
            return "layer_norm";
        case OperatorKind::batch_norm:
            return "batch_norm";
        case OperatorKind::pooling:
            return "pooling";
        case OperatorKind::embedding:
            return "embedding";
        case OperatorKind::dropout:
            return "dropout";
        case OperatorKind::loss:
            return "loss";
        case OperatorKind::recurrent:
            return "recurrent";
        case OperatorKind::copy:
            return "copy";
        case OperatorKind::optimizer:
            return "optimizer";
    }
    return "";
}

const char* to_string(Function function) {
    switch (function) {
        case Function::none:
            return "none";
        case Function::add:
            return "add";
        case Function::mul:
            return "mul";
        case Function::div:
            return "div";
        case Function::pow:
            return "pow";
        case Function::add_scalar:
            return "add_scalar";
        case Function::mul_scalar:
            return "mul_scalar";
        case Function::div_scalar:
            return "div_scalar";
        case Function::pow_scalar:
            return "pow_scalar";
        case Function::relu:
            return "relu";
        case Function::gelu:
            return "gelu";
        case Function::tanh:
            return "tanh";
        case Function::sigmoid:
            return "sigmoid";
        case Function::silu:
            return "silu";
        case Function::other:
            return "other";
    }
    return "";
}

const char* to_string(Phase phase) {
    switch (phase) {
        case Phase::forward:
            return "forward";
        case Phase::backward:
            return "backward";
        case Phase::backward_data:
            return "backward_data";
        case Phase::backward_weight:
            return "backward_weight";
        case Phase::update:
            return "update";
        case Phase::train_step:
            return "train_step";
    }
    return "";
}

const char* to_string(Optimizer optimizer) {
    switch (optimizer) {
        case Optimizer::none:
            return "none";
        case Optimizer::sgd:
            return "sgd";
        case Optimizer::momentum:
            return "momentum";
        case Optimizer::adagrad:
            return "adagrad";
        case Optimizer::adadelta:
            return "adadelta";
        case Optimizer::rmsprop:
            return "rmsprop";
        case Optimizer::adam:
            return "adam";
        case Optimizer::adamw:
            return "adamw";
        case Optimizer::adafactor:
            return "adafactor";
        case Optimizer::lamb:
            return "lamb";
        case Optimizer::lars:
            return "lars";
    }
    return "";
}

}  // namespace dlcast
