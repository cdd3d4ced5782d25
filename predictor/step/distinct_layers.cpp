// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/distinct_layers.h"

#include <unordered_map>

#include "predictor/step/compiler_fusion.h"

namespace dlcast {
namespace {

/// A layer with what its neighbours make of it.
struct Site {
    const Layer* layer;
    bool after_trained, fused_away;
};

bool same_shape(const Layer& a, const Layer& b) {
    return a.kind == b.kind && a.parameters == b.parameters && a.input == b.input && a.output == b.output &&
           a.kernel_h == b.kernel_h && a.kernel_w == b.kernel_w && a.stride == b.stride && a.groups == b.groups &&
           a.heads == b.heads && a.kv_heads == b.kv_heads && a.head_dim == b.head_dim && a.vocab == b.vocab &&
           a.kv_tokens == b.kv_tokens && a.experts == b.experts && a.function == b.function;
}

bool same_role(const Layer& a, const Layer& b) {
    return a.bias == b.bias && a.causal == b.causal && a.fused == b.fused && a.trainable == b.trainable &&
           a.tied == b.tied && a.dropout == b.dropout && a.input_grad == b.input_grad &&
           (a.block >= 0) == (b.block >= 0);
}

struct Same {
    bool operator()(const Site& a, const Site& b) const {
        return a.after_trained == b.after_trained && a.fused_away == b.fused_away && same_shape(*a.layer, *b.layer) &&
               same_role(*a.layer, *b.layer);
    }
};

struct Hash {
    std::size_t operator()(const Site& site) const {
        const Layer& layer = *site.layer;
        std::size_t hash = static_cast<std::size_t>(layer.kind);
        const auto mix = [&hash](std::uint64_t value) { hash = (hash ^ value) * 0x9e3779b97f4a7c15U; };
        mix(layer.parameters);
        for (const std::int64_t size : layer.input) mix(static_cast<std::uint64_t>(size));
        for (const std::int64_t size : layer.output) mix(static_cast<std::uint64_t>(size));
        mix(layer.function.empty() ? 0 : static_cast<unsigned char>(layer.function.front()));
        return hash ^ hash >> 32;
    }
};

}  // namespace

DistinctLayers distinct_layers(const ModelSpec& model, const std::vector<bool>& fused_away) {
    DistinctLayers out;
    out.place.reserve(model.layers.size());
    std::unordered_map<Site, std::uint32_t, Hash, Same> places;
    const std::size_t first = first_trained_layer(model);
    for (std::size_t i = 0; i < model.layers.size(); ++i) {
        const Site site{&model.layers[i], i > first, i < fused_away.size() && fused_away[i]};
        const auto [found, is_new] = places.try_emplace(site, static_cast<std::uint32_t>(out.example.size()));
        if (is_new) {
            out.example.push_back(i);
            out.count.push_back(0);
            out.fused.push_back(site.fused_away);
        }
        out.place.push_back(found->second);
        ++out.count[found->second];
    }
    return out;
}

LoweredLayers::LoweredLayers(const Workload& workload)
    : workload_(workload),
      distinct_(distinct_layers(workload.model, fused_away(workload))),
      first_trained_(first_trained_layer(workload.model)) {}

const std::vector<LayerOperators>& LoweredLayers::operators(std::int64_t micro_batch) {
    if (micro_batch == micro_batch_) return operators_;
    operators_.clear();
    for (const std::size_t i : distinct_.example)
        operators_.push_back(
            lower_layer(workload_.model.layers[i], workload_.training, micro_batch, i > first_trained_));
    micro_batch_ = micro_batch;
    return operators_;
}

}  // namespace dlcast
