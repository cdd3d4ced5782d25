// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/memory_check.h"

#include <fmt/format.h>

#include "predictor/step/memory.h"

namespace dlcast {
namespace {

constexpr double GiB = 1 << 30;

bool fits(double bytes, double free_bytes) { return free_bytes <= 0.0 || bytes <= usable_share * free_bytes; }

}  // namespace

double tensor_bytes(const Operator& op, bool fused_attention) {
    const double width = element_bytes(op.precision);
    switch (op.kind) {
        case OperatorKind::optimizer: {  // weights, gradients and states, in fp32
            Training training;
            training.optimizer = op.optimizer;
            const BytesPerParameter each = bytes_per_parameter(training, false);
            return (each.weight + each.gradient + each.optimizer) * static_cast<double>(op.rows) *
                   static_cast<double>(op.cols);
        }
        case OperatorKind::embedding:  // a call reads a few rows of its table
            return bytes(op) + width * static_cast<double>(op.vocab) * static_cast<double>(op.cols);
        case OperatorKind::attention: {  // scores before and after softmax; backward has their gradients too
            const double scores = static_cast<double>(op.batch) * static_cast<double>(op.m) * static_cast<double>(op.n);
            return bytes(op) + (fused_attention ? 0.0 : (op.phase == Phase::forward ? 2.0 : 4.0) * width * scores);
        }
        default:
            return bytes(op);
    }
}

MemoryEstimate step_memory(const ModelSpec& model, const Training& training, bool fused_attention) {
    Workload whole;
    whole.model = model;
    whole.training = training;
    if (!fused_attention)
        for (Layer& layer : whole.model.layers) layer.fused = false;
    // The network that is built holds all of it in the width of its data.
    const bool narrow = training.precision == Precision::bf16 || training.precision == Precision::fp16;
    const double width = narrow ? 0.5 : 1.0;
    whole.training.precision = Precision::fp32;
    MemoryEstimate out = estimate_memory(whole, Layout{}, training.batch_size, Device{});
    for (double* part : {&out.weights_bytes, &out.gradients_bytes, &out.optimizer_bytes, &out.activations_bytes})
        *part *= width;
    return out;
}

Status check_memory(const ModelSpec& model, const Training& training, double free_bytes, bool fused_attention) {
    const MemoryEstimate need = step_memory(model, training, fused_attention);
    const double total = need.weights_bytes + need.gradients_bytes + need.optimizer_bytes + need.activations_bytes;
    if (fits(total, free_bytes)) return ok();
    return unavailable(fmt::format(
        "a training step of {} needs about {:.1f} GiB (weights {:.1f}, gradients {:.1f}, optimizer {:.1f}, activations "
        "{:.1f}), {:.1f} GiB are free; take a smaller batch or model",
        model.name, total / GiB, need.weights_bytes / GiB, need.gradients_bytes / GiB, need.optimizer_bytes / GiB,
        need.activations_bytes / GiB, free_bytes / GiB));
}

Status check_memory(const Operator& op, double free_bytes, bool fused_attention) {
    // Inputs lie there twice; the results of both calls come and go.
    const double copies = op.kind == OperatorKind::optimizer ? 2.0 : 3.0;
    const double total = copies * tensor_bytes(op, fused_attention);
    if (fits(total, free_bytes)) return ok();
    return unavailable(fmt::format("its tensors need about {:.1f} GiB, {:.1f} GiB are free; take a smaller {}",
                                   total / GiB, free_bytes / GiB,
                                   op.kind == OperatorKind::optimizer ? "model" : "batch or model"));
}

}  // namespace dlcast
