// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/step_work.h"

#include <fmt/format.h>

#include <algorithm>

#include "predictor/model/shape.h"
#include "predictor/timing/lowering.h"
#include "predictor/timing/physics.h"

namespace dlcast {
namespace {

Result<std::int64_t> micro_batch_of(const Training& training, const Layout& layout) {
    if (training.global_batch <= 0) {
        if (training.batch_size > 0) return training.batch_size;
        return invalid_argument("training: no batch size; add \"batch_size\"");
    }
    const std::int64_t parts = layout.dp * std::max<std::int64_t>(1, training.grad_accum);
    if (training.global_batch < parts)
        return invalid_argument(fmt::format(
            "training: a global batch of {} does not reach {} data ranks x {} micro-steps; raise it or take fewer GPUs",
            training.global_batch, layout.dp, training.grad_accum));
    return (training.global_batch + parts - 1) / parts;
}

Status check_links(const StepWork& work) {
    for (const Group* group : {&work.layout.data, &work.layout.tensor, &work.layout.context}) {
        if (group->ranks() < 2) continue;
        const bool inside = group->ranks_per_node > 1 && !(group->intra_node.bandwidth_Bps > 0);
        const bool between = group->nodes > 1 && !(group->inter_node.bandwidth_Bps > 0);
        if (inside || between)
            return invalid_argument(
                fmt::format("{} GPUs exchange data over a link without bandwidth; give the link {} "
                            "a bandwidth",
                            group->ranks(), inside ? "inside nodes" : "between nodes"));
    }
    return ok();
}

double gradient_width(Precision precision) {
    return precision == Precision::fp16 || precision == Precision::bf16 || precision == Precision::fp8 ? 2.0 : 4.0;
}

double tensors_of(const Layer& layer) {
    if (layer.parameters == 0 || !layer.trainable) return 0;
    const bool shift = layer.kind == LayerKind::batch_norm || layer.kind == LayerKind::layer_norm ||
                       layer.kind == LayerKind::group_norm;
    return shift || layer.bias ? 2 : 1;
}

// Full checkpointing runs repeated blocks again, or the whole model where there are none; selective the scores of
// attention.
bool runs_again(const Layer& layer, bool has_blocks, const std::string& checkpointing) {
    if (checkpointing == "full") return layer.block >= 0 || !has_blocks;
    return checkpointing == "selective" && layer.kind == LayerKind::attention;
}

// DistributedDataParallel's buckets, last layer first; a layer's share of backward by the roofline.
std::vector<GradientBucket> buckets_of(const ModelSpec& model, const std::vector<LayerOperators>& lowered,
                                       const Device& device, double width) {
    constexpr double bucket_bytes = 25.0 * 1024 * 1024;
    std::vector<double> seconds(lowered.size(), 0.0);
    double all_s = 0;
    for (std::size_t i = 0; i < lowered.size(); ++i) {
        for (const OperatorUse& use : lowered[i].backward) seconds[i] += use.count * roofline_s(device, use.op);
        all_s += seconds[i];
    }
    std::vector<GradientBucket> out;
    double done_s = 0, open_bytes = 0;
    for (std::size_t i = lowered.size(); i-- > 0;) {
        done_s += seconds[i];
        if (model.layers[i].trainable) open_bytes += width * static_cast<double>(model.layers[i].parameters);
        if (open_bytes < bucket_bytes && i > 0) continue;
        if (open_bytes > 0) out.push_back({open_bytes, all_s > 0 ? done_s / all_s : 1.0});
        open_bytes = 0;
    }
    return out;
}

// Tensor ranks reduce after attention and after the perceptron of each block; the message is as wide as what the first
// product behind attention leaves.
void add_tensor_exchange(StepWork& work, const Workload& workload, double width) {
    const auto& layers = workload.model.layers;
    double attentions = 0, widest = 0;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        if (layers[i].kind != LayerKind::attention) continue;
        ++attentions;
        const auto next = std::find_if(layers.begin() + static_cast<std::ptrdiff_t>(i), layers.end(),
                                       [](const Layer& layer) { return layer.kind == LayerKind::linear; });
        if (next != layers.end()) widest = std::max(widest, elements(next->output));
    }
    const double bytes = width * static_cast<double>(work.micro_batch) * widest / work.layout.cp;
    const bool again = workload.training.activation_checkpointing == "full";
    const double rounds = work.forward_only ? 1.0 : again ? 3.0 : 2.0;
    if (work.layout.tp > 1) {
        work.tensor_message_bytes = bytes;
        work.tensor_messages = 2 * attentions * rounds * work.stage;
    }
    if (work.layout.pp > 1) work.stage_bytes = bytes / work.layout.tp;
}

void add_exchange(StepWork& work, const Workload& workload, const std::vector<LayerOperators>& lowered) {
    const double width = element_bytes(workload.training.precision);
    const bool sharded = work.layout.weight_shards > 1;
    if (sharded)
        work.gathered_bytes = width * static_cast<double>(workload.model.parameters) / work.layout.tp * work.stage;
    if (work.layout.data.ranks() > 1 && !work.forward_only && !sharded) {
        work.buckets = buckets_of(workload.model, lowered, work.device, gradient_width(workload.training.precision));
        for (GradientBucket& bucket : work.buckets) bucket.bytes *= work.stage / work.layout.tp;
    }
    if (work.layout.cp > 1) {
        for (const Layer& layer : workload.model.layers) {
            if (layer.kind != LayerKind::attention) continue;
            const double keys = static_cast<double>(std::max(layer.kv_tokens, layer.input.front()));
            work.ring_bytes += 2 * width * static_cast<double>(work.micro_batch) *
                               static_cast<double>(layer.kv_heads * layer.head_dim) * keys * work.stage /
                               work.layout.tp;
        }
    }
    add_tensor_exchange(work, workload, width);
}

bool is_row_wise(LayerKind kind) {
    switch (kind) {
        case LayerKind::batch_norm:
        case LayerKind::layer_norm:
        case LayerKind::rms_norm:
        case LayerKind::group_norm:
        case LayerKind::activation:
        case LayerKind::dropout:
        case LayerKind::add:
        case LayerKind::multiply:
            return true;
        default:
            return false;
    }
}

// A compiler makes one kernel of a chain of row-wise layers: those after its first add neither traffic nor launches.
bool is_fused_away(const std::vector<Layer>& layers, std::size_t i, const SoftwareKind& software) {
    if (software.fusion != Fusion::by_compiler || i == 0) return false;
    const bool pointwise = is_row_wise(layers[i].kind) && layers[i].parameters == 0;
    return pointwise && is_row_wise(layers[i - 1].kind) && layers[i - 1].output == layers[i].input;
}

void add_layers(StepWork& work, const Workload& workload, const std::vector<LayerOperators>& lowered) {
    const auto& layers = workload.model.layers;
    const bool has_blocks = std::any_of(layers.begin(), layers.end(), [](const Layer& l) { return l.block >= 0; });
    for (std::size_t i = 0; i < lowered.size(); ++i) {
        const Layer& layer = layers[i];
        LayerWork& out = work.layers.emplace_back();
        const auto add = [&](const std::vector<OperatorUse>& uses, std::vector<WorkItem>& items) {
            for (const OperatorUse& whole : uses) {
                const OperatorUse use{share_of(whole.op, &layer, work.layout), whole.count};
                add_item(items, work_item(use, &layer, work.device));
                out.operators.push_back(use);
            }
        };
        if (is_fused_away(layers, i, work.software)) continue;
        add(lowered[i].forward, out.forward);
        add(lowered[i].backward, out.backward);
        if (!work.forward_only && runs_again(layer, has_blocks, workload.training.activation_checkpointing))
            out.backward.insert(out.backward.end(), out.forward.begin(), out.forward.end());
        for (const WorkItem& item : out.forward) add_item(work.forward, item);
        for (const WorkItem& item : out.backward) add_item(work.backward, item);
        work.tensors += tensors_of(layer) * work.stage;
        if (layer.trainable) work.parameters += static_cast<double>(layer.parameters) * work.stage / work.layout.tp;
    }
}

}  // namespace

Result<StepWork> step_work(const Workload& workload, const Allocation& allocation) {
    const Training& training = workload.training;
    const auto layout = make_layout(training.parallel, allocation);
    if (!layout) return layout.error();
    const auto micro_batch = micro_batch_of(training, *layout);
    if (!micro_batch) return micro_batch.error();
    StepWork work;
    work.device = allocation.device;
    work.software = software_kind(workload.model, training);
    work.layout = *layout;
    if (work.software.sequence_parallel) work.layout.sequence_parallel = layout->tp > 1;
    work.nodes = allocation.nodes;
    work.forward_only = training.forward_only;
    work.tf32 = training.precision == Precision::tf32;
    work.micro_batch = *micro_batch;
    work.micro_steps = static_cast<double>(std::max<std::int64_t>(1, training.grad_accum));
    work.passes = work.micro_steps + (layout->pp - 1.0) / layout->vp;
    work.stage = 1.0 / layout->pp;
    if (auto status = check_links(work); !status) return status.error();
    const std::vector<LayerOperators> lowered = lower(workload.model, training, *micro_batch);
    add_layers(work, workload, lowered);
    add_exchange(work, workload, lowered);
    if (!work.forward_only)
        for (const OperatorUse& use : lower_update(workload.model, training))
            work.update.push_back(work_item({share_of(use.op, nullptr, work.layout), use.count}, nullptr, work.device));
    return work;
}

}  // namespace dlcast
