// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>

#include "predictor/model/shape.h"
#include "predictor/timing/lowering_detail.h"

namespace dlcast {
namespace {

bool is_rotation(const Layer& layer) { return layer.kind == LayerKind::activation && layer.function == "rope"; }

// Whether backward of the layer reads its input. Attention counts its queries, keys and values itself; a rotation of
// positions reads its angles alone.
bool reads_input(const Layer& layer) {
    switch (layer.kind) {
        // The gradient of a frozen product's input takes its weight alone.
        case LayerKind::conv2d:
        case LayerKind::linear:
            return layer.trainable;
        case LayerKind::batch_norm:
        case LayerKind::layer_norm:
        case LayerKind::rms_norm:
        case LayerKind::group_norm:
        case LayerKind::multiply:
        case LayerKind::lstm:
        case LayerKind::gru:
            return true;
        // In place or by its output: relu overwrites what it read.
        case LayerKind::activation:
            return layer.function != "relu" && layer.function != "tanh" && layer.function != "sigmoid" &&
                   !is_rotation(layer);
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

double keys_of(const Layer& layer) {
    return static_cast<double>(layer.kv_tokens > 0 ? layer.kv_tokens : layer.input.front());
}

double query_key_value_bytes(const Layer& layer, double width) {
    const double queries = static_cast<double>(layer.input.front());
    return width * static_cast<double>(layer.head_dim) *
           (queries * static_cast<double>(layer.heads) + 2 * keys_of(layer) * static_cast<double>(layer.kv_heads));
}

bool is_view(const Layer& layer) { return layer.kind == LayerKind::flatten || layer.kind == LayerKind::reshape; }

bool is_adapter(const Layer& layer) { return layer.kind == LayerKind::linear && layer.name.ends_with(".lora_a"); }

constexpr std::size_t most_projections = 16;  // three with their adapters, a rotation and views; a long chain is none

// Projections, their adapters and rotations come before the attention that keeps what they leave.
bool feeds_attention(const std::vector<Layer>& layers, std::size_t i) {
    if (layers[i].kind != LayerKind::linear && layers[i].kind != LayerKind::add && !is_rotation(layers[i]))
        return false;
    if (layers[i].kind == LayerKind::add && !layers[i].name.ends_with(".lora_add")) return false;
    const std::size_t end = std::min(layers.size(), i + most_projections);
    for (++i; i < end; ++i) {
        const Layer& layer = layers[i];
        if (layer.kind == LayerKind::attention) return true;
        const bool adds = layer.kind == LayerKind::add && layer.name.ends_with(".lora_add");
        if (layer.kind != LayerKind::linear && !adds && !is_rotation(layer) && !is_view(layer)) return false;
    }
    return false;
}

// Whether the layer that gets the output of layer `i`, views aside, reads it again in backward. An adapter reads what
// the layer before it read.
bool next_reads(const std::vector<Layer>& layers, std::size_t i) {
    do ++i;
    while (i < layers.size() && is_view(layers[i]));
    if (i >= layers.size() || is_adapter(layers[i])) return false;
    return reads_input(layers[i]) || (i + 1 < layers.size() && is_adapter(layers[i + 1]));
}

// The layer that leaves the input of the first trained one; an adapter stands behind the layer it adapts.
std::size_t first_kept(const std::vector<Layer>& layers) {
    std::size_t first = 0;
    while (first < layers.size() && !(layers[first].trainable && layers[first].parameters > 0)) ++first;
    const std::size_t before = first < layers.size() && is_adapter(layers[first]) ? 2 : 1;
    return first == layers.size() ? first : first - std::min(first, before);
}

bool next_is_layer_norm(const std::vector<Layer>& layers, std::size_t i) {
    return i + 1 < layers.size() &&
           (layers[i + 1].kind == LayerKind::layer_norm || layers[i + 1].kind == LayerKind::rms_norm);
}

}  // namespace

double attention_score_bytes(const Layer& layer, const Training& training) {
    const double queries = static_cast<double>(layer.input.front()), heads = static_cast<double>(layer.heads);
    if (layer.fused) return 4.0 * heads * queries;  // one fp32 sum a query and head
    const double e = element_bytes(training.precision);
    double each = element_bytes(lowering::reduction_precision(training));
    if (training.precision == Precision::amp) each += e;
    if (layer.dropout) each += 1.0 + e;
    return each * heads * queries * keys_of(layer);
}

std::vector<double> saved_activation_bytes(const ModelSpec& model, const Training& training) {
    const auto& layers = model.layers;
    std::vector<double> out(layers.size(), 0.0);
    const double e = element_bytes(training.precision);
    const double norm_input = training.precision == Precision::amp ? 4.0 : e;  // autocast keeps the sums before norms
    for (std::size_t i = first_kept(layers); i < layers.size(); ++i) {
        const Layer& layer = layers[i];
        const double output = elements(layer.output);
        if (layer.kind == LayerKind::dropout) out[i] = output;  // its mask
        if (layer.kind == LayerKind::attention)
            out[i] += attention_score_bytes(layer, training) + query_key_value_bytes(layer, e);
        if (layer.kind == LayerKind::loss) out[i] += 4.0 * output;
        if (is_view(layer) || feeds_attention(layers, i)) continue;
        if (reads_output(layer) || next_reads(layers, i))
            out[i] += (next_is_layer_norm(layers, i) ? norm_input : e) * output;
    }
    return out;
}

}  // namespace dlcast
