// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/shape.h"
#include "predictor/timing/lowering_detail.h"

namespace dlcast {
namespace {

// Whether backward of the layer reads its input.
bool reads_input(const Layer& layer) {
    switch (layer.kind) {
        case LayerKind::conv2d:
        case LayerKind::linear:
        case LayerKind::batch_norm:
        case LayerKind::layer_norm:
        case LayerKind::rms_norm:
        case LayerKind::group_norm:
        case LayerKind::multiply:
        case LayerKind::attention:
        case LayerKind::lstm:
        case LayerKind::gru:
            return true;
        // In place or by its output: relu overwrites what it read.
        case LayerKind::activation:
            return layer.function != "relu" && layer.function != "tanh" && layer.function != "sigmoid";
        default:
            return false;
    }
}

bool reads_output(const Layer& layer) {
    switch (layer.kind) {
        case LayerKind::softmax:
        case LayerKind::max_pool:
        case LayerKind::lstm:
        case LayerKind::gru:
            return true;
        case LayerKind::activation:
            return layer.function == "relu" || layer.function == "tanh" || layer.function == "sigmoid";
        default:
            return false;
    }
}

// Softmax and its cast or dropout: probabilities, a mask of one byte, and what the second product reads.
double attention_bytes(const Layer& layer, const Training& training) {
    const double queries = static_cast<double>(layer.input[0]);
    const double keys = static_cast<double>(layer.kv_tokens > 0 ? layer.kv_tokens : layer.input[0]);
    const double heads = static_cast<double>(layer.heads);
    if (layer.fused) return 4.0 * heads * queries;  // one fp32 sum a query and head
    const double e = element_bytes(training.precision);
    double each = element_bytes(lowering::reduction_precision(training));
    if (training.precision == Precision::amp) each += e;
    if (layer.dropout) each += 1.0 + e;
    return each * heads * queries * keys;
}

bool is_view(const Layer& layer) { return layer.kind == LayerKind::flatten || layer.kind == LayerKind::reshape; }

// Whether the layer that gets the output of layer `i`, views aside, reads it again in backward.
bool next_reads(const std::vector<Layer>& layers, std::size_t i) {
    do ++i;
    while (i < layers.size() && is_view(layers[i]));
    return i < layers.size() && reads_input(layers[i]);
}

}  // namespace

std::vector<double> saved_activation_bytes(const ModelSpec& model, const Training& training) {
    const auto& layers = model.layers;
    std::vector<double> out(layers.size(), 0.0);
    const double e = element_bytes(training.precision);
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const Layer& layer = layers[i];
        const double output = elements(layer.output);
        if (layer.kind == LayerKind::dropout) out[i] = output;  // its mask
        if (layer.kind == LayerKind::attention) out[i] += attention_bytes(layer, training);
        if (layer.kind == LayerKind::loss) out[i] += 4.0 * output;
        if (!is_view(layer) && (reads_output(layer) || next_reads(layers, i))) out[i] += e * output;
    }
    return out;
}

}  // namespace dlcast
