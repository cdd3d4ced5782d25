// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/step_exchange.h"

#include <algorithm>
#include <limits>
#include <set>

#include "predictor/model/shape.h"
#include "predictor/step/gradient_buckets.h"
#include "predictor/step/message_times.h"
#include "predictor/step/micro_batch.h"
#include "predictor/step/sharded_units.h"
#include "predictor/timing/physics.h"

namespace dlcast {
namespace {

class ExchangeBuilder {
public:
    ExchangeBuilder(const ExchangeQuery& q, const FittedCollectives& collectives)
        : q_(q), times_(q.allocation, collectives), width_(element_bytes(q.workload.training.precision)) {}

    StepExchange build() {
        add_data_exchange();
        if (q_.layout.tp > 1) add_tensor_exchange();
        if (q_.layout.cp > 1) add_ring();
        if (q_.layout.pp > 1) add_stages();
        if (q_.layout.ep > 1) add_experts();
        return out_;
    }

private:
    const Training& training() const { return q_.workload.training; }

    void add_data_exchange() {
        if (q_.layout.data.ranks() < 2 || training().parallel.independent) return;
        if (!training().parallel.fsdp.empty() || q_.layout.weight_shards > 1) {
            out_.units = sharded_units(q_, times_, out_.gathers_again);
            return;
        }
        if (training().forward_only) return;
        out_.buckets = gradient_buckets(q_, times_);
        if (!training().parallel.no_sync)
            out_.bucket_rounds = static_cast<double>(micro_steps_of(training(), q_.layout));
        if (q_.layout.optimizer_shards > 1)
            out_.updated_weights = times_.of(Collective::all_gather, width_ * trained_here(), q_.layout.data);
    }

    // Frozen weights are nobody's to update.
    double trained_here() const {
        return static_cast<double>(q_.workload.model.trainable_parameters) * q_.stage / q_.layout.tp;
    }

    // One rank's activations between blocks: what the first product behind attention leaves, for a micro-batch.
    double activation_bytes() const {
        const auto& layers = q_.workload.model.layers;
        double widest = 0;
        for (std::size_t i = 0; i < layers.size(); ++i) {
            if (layers[i].kind != LayerKind::attention) continue;
            const auto next = std::find_if(layers.begin() + static_cast<std::ptrdiff_t>(i), layers.end(),
                                           [](const Layer& layer) { return layer.kind == LayerKind::linear; });
            if (next != layers.end()) widest = std::max(widest, elements(next->output));
            if (i > 64 && widest > 0) break;  // later blocks are as wide
        }
        return width_ * q_.micro_batch * widest / q_.layout.cp;
    }

    // After attention and after the perceptron of each block; under sequence parallelism a gather before and a scatter
    // behind, of the same total.
    void add_tensor_exchange() {
        const auto& layers = q_.workload.model.layers;
        const auto attentions = static_cast<double>(std::count_if(
            layers.begin(), layers.end(), [](const Layer& layer) { return layer.kind == LayerKind::attention; }));
        const bool again = training().activation_checkpointing == "full";
        const double rounds = training().forward_only ? 1.0 : again ? 3.0 : 2.0;
        out_.tensor_messages = 2 * attentions * rounds * q_.stage;
        const double bytes = activation_bytes();
        if (!q_.layout.sequence_parallel) {
            out_.tensor = times_.of(Collective::all_reduce, bytes, q_.layout.tensor);
            return;
        }
        out_.tensor = times_.of(Collective::all_gather, bytes, q_.layout.tensor);
        out_.tensor.alone_s += times_.of(Collective::reduce_scatter, bytes, q_.layout.tensor).alone_s;
    }

    void add_ring() {
        for (const Layer& layer : q_.workload.model.layers) {
            if (layer.kind != LayerKind::attention) continue;
            const double keys = static_cast<double>(std::max(layer.kv_tokens, layer.input.front()));
            const double bytes = 2 * width_ * q_.micro_batch * static_cast<double>(layer.kv_heads * layer.head_dim) *
                                 keys / q_.layout.tp;
            const Message one = times_.of(Collective::all_gather, bytes, q_.layout.context);
            out_.ring.alone_s += one.alone_s * q_.stage;
            out_.ring.wire = one.wire;
        }
    }

    // Pipeline stages are the outermost ranks: the next one stands behind all tensor, context and data ranks.
    void add_stages() {
        const Layout& l = q_.layout;
        const int stride = l.tp * l.cp * l.dp;
        Group pair = l.data;
        const bool same_node = stride < q_.allocation.gpus_per_node;
        pair.nodes = same_node ? 1 : 2;
        pair.ranks_per_node = same_node ? 2 : 1;
        out_.stage = times_.of(Collective::sendrecv, activation_bytes() / l.tp, pair);
    }

    // Tokens go to their experts' ranks and come back, in forward and in backward.
    void add_experts() {
        const auto& layers = q_.workload.model.layers;
        const Group group = place_ranks(q_.layout.ep, q_.layout.tp * q_.layout.cp, q_.allocation);
        double bytes = 0;
        std::set<int> blocks;
        for (const Layer& layer : layers)
            if (layer.experts > 0 && blocks.insert(layer.block).second)
                bytes = width_ * q_.micro_batch * elements(layer.input) / q_.layout.tp / q_.layout.cp;
        out_.experts = times_.of(Collective::alltoall, bytes, group);
        out_.expert_messages =
            2.0 * static_cast<double>(blocks.size()) * (training().forward_only ? 1.0 : 2.0) * q_.stage;
    }

    const ExchangeQuery& q_;
    MessageTimes times_;
    double width_;
    StepExchange out_;
};

}  // namespace

StepExchange step_exchange(const ExchangeQuery& query, const FittedCollectives& collectives) {
    return ExchangeBuilder(query, collectives).build();
}

}  // namespace dlcast
