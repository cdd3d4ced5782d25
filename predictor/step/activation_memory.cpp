// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/activation_memory.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "predictor/model/shape.h"
#include "predictor/step/micro_batch.h"
#include "predictor/step/software_kind.h"
#include "predictor/timing/lowering.h"

namespace dlcast {
namespace {

struct LayerBytes {
    int block = -1;
    double kept = 0.0, passing = 0.0, input = 0.0, output = 0.0;
};

bool is_whole_on_tensor_ranks(const Layer& layer) {
    switch (layer.kind) {
        case LayerKind::embedding:
        case LayerKind::batch_norm:
        case LayerKind::layer_norm:
        case LayerKind::rms_norm:
        case LayerKind::group_norm:
        case LayerKind::dropout:
        case LayerKind::add:
            return true;
        default:
            return false;
    }
}

// A product split by rows leaves whole sums: the one whose output is dropped out, added or normed.
bool leaves_whole(const std::vector<Layer>& layers, std::size_t i) {
    if (layers[i].kind != LayerKind::linear) return is_whole_on_tensor_ranks(layers[i]);
    return i + 1 < layers.size() && is_whole_on_tensor_ranks(layers[i + 1]);
}

// The mean of a loss is taken in place of its logits where software brings such a kernel.
bool has_fused_loss(const Training& training) { return training.framework.find("composer") != std::string::npos; }

double scores_of(const Layer& layer, const Training& training) {
    return layer.kind == LayerKind::attention ? attention_score_bytes(layer, training) : 0.0;
}

// Gradients that backward of a layer holds at once; views have none of their own.
double passing_bytes(const Layer& layer, const Training& training) {
    const double e = element_bytes(training.precision);
    const double input = elements(layer.input), output = elements(layer.output);
    switch (layer.kind) {
        case LayerKind::flatten:
        case LayerKind::reshape:
            return 0.0;
        case LayerKind::loss:  // the logits, and their gradient in fp32
            return has_fused_loss(training) ? 0.0 : (e + 4.0) * output;
        case LayerKind::attention: {
            const double keys = static_cast<double>(layer.kv_tokens > 0 ? layer.kv_tokens : layer.input.front());
            const double scores = static_cast<double>(layer.heads * layer.input.front()) * keys;
            return 2 * e * (input + output) + (layer.fused ? 0.0 : 2 * e * scores);
        }
        default:
            return e * (input + output);
    }
}

bool is_norm(const Layer& layer) {
    return layer.kind == LayerKind::batch_norm || layer.kind == LayerKind::layer_norm ||
           layer.kind == LayerKind::rms_norm || layer.kind == LayerKind::group_norm;
}

// "selective" where attention is fused and has no scores to drop: the results of attention and of every second product
// stay, all else runs again, as PyTorch's selective checkpointing by operator does. Megatron and NeMo know the scores
// alone.
bool keeps_every_second_product(const Workload& workload) {
    const Training& training = workload.training;
    const auto& layers = workload.model.layers;
    if (training.activation_checkpointing != "selective") return false;
    if (training.framework.find("megatron") != std::string::npos ||
        training.framework.find("nemo") != std::string::npos)
        return false;
    const auto attention = [](const Layer& layer) { return layer.kind == LayerKind::attention; };
    return std::any_of(layers.begin(), layers.end(), attention) &&
           std::all_of(layers.begin(), layers.end(), [&](const Layer& l) { return !attention(l) || l.fused; });
}

// Blocks keep their input, the results of attention and of every second product; one block runs again at a time.
void keep_every_second_product(const Workload& workload, std::vector<LayerBytes>& out) {
    const auto& layers = workload.model.layers;
    std::map<int, double> again;  // bytes by block
    int block = -1;
    bool keeps = false;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        if (layers[i].block < 0) continue;
        double kept = layers[i].block != block ? out[i].input : 0.0;
        block = layers[i].block;
        if (layers[i].kind == LayerKind::linear) keeps = !keeps;
        if (layers[i].kind == LayerKind::attention || (layers[i].kind == LayerKind::linear && keeps))
            kept += out[i].output;
        again[block] += std::max(0.0, out[i].kept - kept);
        out[i].kept = kept;
    }
    for (LayerBytes& layer : out)
        if (layer.block >= 0) layer.passing += again[layer.block];
}

std::vector<LayerBytes> bytes_by_layer(const Workload& workload, const Layout& layout) {
    const Training& training = workload.training;
    const auto& layers = workload.model.layers;
    const std::vector<double> kept = saved_activation_bytes(workload.model, training);
    const Fusion software = software_kind(workload.model, training).fusion;
    std::vector<LayerBytes> out(layers.size());
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const Layer& layer = layers[i];
        const bool divided = layout.sequence_parallel || !leaves_whole(layers, i);
        const double share = 1.0 / layout.cp / (divided ? layout.tp : 1);
        out[i].block = layer.block;
        out[i].kept = kept[i] * share;
        if (layer.kind == LayerKind::loss && has_fused_loss(training))
            out[i].kept *= element_bytes(training.precision) / 4.0;
        // A kernel for both needs no tensor between norm and activation.
        const bool fuses = software != Fusion::none && i + 1 < layers.size() && is_norm(layer) &&
                           layers[i + 1].kind == LayerKind::activation;
        if (fuses) out[i].kept = 0;
        out[i].passing = passing_bytes(layer, training) * share;
        if (training.activation_checkpointing == "selective") {
            out[i].kept -= scores_of(layer, training) * share;
            out[i].passing += scores_of(layer, training) * share;
        }
        out[i].input = element_bytes(training.precision) * elements(layer.input) / layout.cp /
                       (layout.sequence_parallel ? layout.tp : 1);
        out[i].output = element_bytes(training.precision) * elements(layer.output) * share;
    }
    if (keeps_every_second_product(workload)) keep_every_second_product(workload, out);
    return out;
}

// Each repeated block becomes one entry: it keeps its input, and holds itself while it runs again.
std::vector<LayerBytes> checkpointed(const std::vector<LayerBytes>& layers) {
    std::vector<LayerBytes> out;
    for (std::size_t i = 0; i < layers.size();) {
        if (layers[i].block < 0) {
            out.push_back(layers[i++]);
            continue;
        }
        LayerBytes block{layers[i].block, layers[i].input, 0.0, 0.0, 0.0};
        double again = 0, most = 0;
        for (; i < layers.size() && layers[i].block == block.block; ++i) {
            again += layers[i].kept;
            most = std::max(most, layers[i].passing);
        }
        block.passing = again + most;
        out.push_back(block);
    }
    return out;
}

// The moment of backward at which kept and passing bytes are most together.
ActivationMemory fullest(const std::vector<LayerBytes>& layers) {
    ActivationMemory out;
    double kept = 0;
    for (const LayerBytes& layer : layers) {
        kept += layer.kept;
        if (kept + layer.passing > out.total_bytes()) out = {kept, layer.passing};
    }
    return out;
}

// A stage has its part of the repeated layers; what comes before them is the first's, what follows the last's.
ActivationMemory of_pipeline(const std::vector<LayerBytes>& layers, const Layout& layout, double micro_steps) {
    double in_flight = std::min<double>(layout.pp, micro_steps);
    if (layout.vp > 1) in_flight *= 1.0 + (layout.pp - 1.0) / (1.0 * layout.pp * layout.vp);
    std::vector<LayerBytes> first, last;
    bool behind = false;
    for (LayerBytes layer : layers) {
        const bool repeats = layer.block >= 0;
        behind = behind || repeats;
        if (repeats) layer.kept /= layout.pp;
        if (repeats || behind) last.push_back(layer);
        layer.kept *= in_flight;
        if (repeats || !behind) first.push_back(layer);
    }
    const ActivationMemory of_first = fullest(first), of_last = fullest(last);
    return of_first.total_bytes() > of_last.total_bytes() ? of_first : of_last;
}

}  // namespace

ActivationMemory activation_memory(const Workload& workload, const Layout& layout) {
    const Training& training = workload.training;
    std::vector<LayerBytes> layers = bytes_by_layer(workload, layout);
    if (training.forward_only) {
        double most = 0;
        for (std::size_t i = 0; i < layers.size(); ++i)
            if (workload.model.layers[i].kind != LayerKind::loss) most = std::max(most, layers[i].passing);
        return {0.0, most};
    }
    if (training.activation_checkpointing == "full") {
        const bool repeats = std::any_of(layers.begin(), layers.end(), [](const auto& l) { return l.block >= 0; });
        if (repeats) {
            layers = checkpointed(layers);
        } else {
            ActivationMemory all = fullest(layers);
            all.kept_bytes *= 2.0 / std::max(1.0, std::sqrt(static_cast<double>(layers.size())));
            return all;
        }
    }
    const auto micro_steps = static_cast<double>(micro_steps_of(training, layout));
    if (layout.pp > 1) return of_pipeline(layers, layout, micro_steps);
    return fullest(layers);
}

}  // namespace dlcast
