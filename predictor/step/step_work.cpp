// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/step_work.h"

#include <fmt/format.h>

#include <algorithm>

#include "predictor/step/micro_batch.h"
#include "predictor/step/update_kernels.h"
#include "predictor/timing/lowering.h"

namespace dlcast {
namespace {

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

// Each rank has its part of the experts and meets the tokens of all their ranks there: as many rows in fewer products.
OperatorUse share_of_use(const OperatorUse& whole, const Layer& layer, const Layout& layout) {
    OperatorUse use{share_of(whole.op, &layer, layout), whole.count};
    if (layer.experts == 0 || layout.ep == 1 || use.op.kind != OperatorKind::linear) return use;
    const double ranks = std::min<double>(layout.ep, use.count);
    use.count /= ranks;
    std::int64_t& rows = use.op.phase == Phase::backward_weight ? use.op.k : use.op.m;
    rows = static_cast<std::int64_t>(static_cast<double>(rows) * ranks);
    return use;
}

void add_layers(StepWork& work, const Workload& workload, LoweredLayers& lowered) {
    const auto& layers = workload.model.layers;
    const DistinctLayers& distinct = lowered.distinct();
    const auto& operators = lowered.operators(work.micro_batch);
    const bool has_blocks = std::any_of(layers.begin(), layers.end(), [](const Layer& l) { return l.block >= 0; });
    work.layers.reserve(operators.size());
    work.layer_place = distinct.place;
    for (std::size_t i = 0; i < operators.size(); ++i) {
        const Layer& layer = layers[distinct.example[i]];
        LayerWork& out = work.layers.emplace_back();
        out.count = distinct.count[i];
        const auto add = [&](const std::vector<OperatorUse>& uses, std::vector<WorkItem>& items) {
            for (const OperatorUse& whole : uses) {
                const OperatorUse use = share_of_use(whole, layer, work.layout);
                add_item(items, work_item(use, &layer, work.device));
                out.operators.push_back(use);
            }
        };
        if (distinct.fused[i]) continue;
        out.operators.reserve(operators[i].forward.size() + operators[i].backward.size());
        add(operators[i].forward, out.forward);
        add(operators[i].backward, out.backward);
        if (!work.forward_only && runs_again(layer, has_blocks, workload.training.activation_checkpointing))
            out.backward.insert(out.backward.end(), out.forward.begin(), out.forward.end());
        for (const WorkItem& item : out.forward) add_item(work.forward, item, out.count);
        for (const WorkItem& item : out.backward) add_item(work.backward, item, out.count);
        const double times = out.count * work.stage;
        work.tensors += tensors_of(layer) * times;
        const int expert_ranks = layer.experts > 0 ? work.layout.ep : 1;
        if (layer.trainable)
            work.parameters += static_cast<double>(layer.parameters) * times / (work.layout.tp * expert_ranks);
    }
}

void add_update(StepWork& work, const Workload& workload) {
    const UpdateKernels kernels = update_kernels(workload.training.optimizer);
    for (const OperatorUse& use : lower_update(workload.model, workload.training)) {
        WorkItem item = work_item({share_of(use.op, nullptr, work.layout), use.count}, nullptr, work.device);
        if (work.software.update != Update::fused) item.bytes *= kernels.traffic;
        work.update.push_back(item);
    }
    if (work.update.empty()) return;
    const double lists = update_lists(work.tensors, work.parameters / work.layout.optimizer_shards);
    switch (work.software.update) {
        case Update::by_tensor:
            work.update_launches = kernels.launches * work.tensors;
            break;
        case Update::by_list:
            work.update_launches = kernels.launches * lists;
            break;
        case Update::fused:
            work.update_launches = 4 + 2 * lists;  // scaling and norms of gradients, the update
    }
}

}  // namespace

Result<StepWork> step_work(const Workload& workload, const Allocation& allocation,
                           const FittedCollectives& collectives) {
    LoweredLayers layers(workload);
    return step_work(workload, allocation, collectives, layers);
}

Result<StepWork> step_work(const Workload& workload, const Allocation& allocation, const FittedCollectives& collectives,
                           LoweredLayers& layers) {
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
    work.micro_steps = static_cast<double>(micro_steps_of(training, *layout));
    work.passes = work.micro_steps + (layout->pp - 1.0) / layout->vp;
    work.stage = 1.0 / layout->pp;
    if (auto status = check_links(work); !status) return status.error();
    add_layers(work, workload, layers);
    work.exchange = step_exchange({.workload = workload,
                                   .allocation = allocation,
                                   .layout = work.layout,
                                   .software = work.software,
                                   .lowered = layers.operators(*micro_batch),
                                   .place = layers.distinct().place,
                                   .micro_batch = static_cast<double>(*micro_batch),
                                   .stage = work.stage},
                                  collectives);
    if (!work.forward_only) add_update(work, workload);
    return work;
}

}  // namespace dlcast
