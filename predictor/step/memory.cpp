// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/memory.h"

#include <algorithm>
#include <cmath>

#include "predictor/timing/lowering.h"

namespace dlcast {
namespace {

// CUDA context, cuDNN and cuBLAS workspaces, allocator rounding and communication buffers of one process.
constexpr double workspace_fixed_bytes = 1.2e9;
constexpr double workspace_share = 0.05;  // of activations: fragmentation

double state_bytes(Optimizer optimizer) {
    switch (optimizer) {
        case Optimizer::none:
        case Optimizer::sgd:
            return 0;
        case Optimizer::momentum:
        case Optimizer::adagrad:
        case Optimizer::lars:
            return 4;
        case Optimizer::adafactor:
            return 0.1;  // row and column factors
        case Optimizer::rmsprop:
        case Optimizer::adadelta:
        case Optimizer::adam:
        case Optimizer::adamw:
        case Optimizer::lamb:
            return 8;
    }
    return 8;
}

// What backward finds in memory, for one sample on the whole model.
double kept_activation_bytes(const ModelSpec& model, const Training& training) {
    const std::vector<double> saved = saved_activation_bytes(model, training);
    double all = 0, attention = 0, heaviest = 0;
    for (std::size_t i = 0; i < saved.size(); ++i) {
        all += saved[i];
        heaviest = std::max(heaviest, saved[i]);
        const LayerKind kind = i < model.layers.size() ? model.layers[i].kind : LayerKind::linear;
        if (kind == LayerKind::attention || kind == LayerKind::softmax) attention += saved[i];
    }
    if (training.forward_only) return 2 * heaviest;  // one layer's input and output at a time
    if (training.activation_checkpointing == "selective") return all - attention;
    if (training.activation_checkpointing == "full") {
        // Segments of sqrt(n) layers: their borders, plus one segment while it runs again.
        const double segments = std::max(1.0, std::sqrt(static_cast<double>(saved.size())));
        return 2 * all / segments;
    }
    return all;
}

}  // namespace

BytesPerParameter bytes_per_parameter(const Training& training) {
    BytesPerParameter out;
    out.optimizer = state_bytes(training.optimizer);
    const bool narrow = training.precision == Precision::fp16 || training.precision == Precision::bf16 ||
                        training.precision == Precision::fp8;
    if (narrow) out = {2, 2, out.optimizer + 4};
    if (training.forward_only) out.gradient = out.optimizer = 0;
    return out;
}

MemoryEstimate estimate_memory(const Workload& workload, const Layout& layout, std::int64_t micro_batch) {
    const Training& training = workload.training;
    const BytesPerParameter per = bytes_per_parameter(training);
    const double model_ranks = 1.0 * layout.tp * layout.pp;
    const double parameters = static_cast<double>(workload.model.parameters) / model_ranks;
    const double trained = static_cast<double>(workload.model.trainable_parameters) / model_ranks;
    MemoryEstimate out;
    out.weights_bytes = per.weight * parameters / layout.weight_shards;
    out.gradients_bytes = per.gradient * trained / layout.gradient_shards;
    out.optimizer_bytes = per.optimizer * trained / layout.optimizer_shards;
    // With a pipeline the first stage keeps pp micro-batches of its pp-th part of the layers: the factors cancel.
    out.activations_bytes = kept_activation_bytes(workload.model, training) * static_cast<double>(micro_batch) /
                            (1.0 * layout.tp * layout.cp);
    out.workspace_bytes = workspace_fixed_bytes + workspace_share * out.activations_bytes;
    return out;
}

}  // namespace dlcast
