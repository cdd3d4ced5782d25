// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/step_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "predictor/step/exchange.h"
#include "predictor/step/sharding.h"
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

class Planner {
public:
    Planner(const Device& device, const Software& software, OperatorTable& table)
        : device_(device), software_(software), table_(table) {}

    std::vector<PlannedCalls> add(const std::vector<OperatorUse>& uses, const Layout& layout, LayerPlan& sums) {
        std::vector<PlannedCalls> out;
        for (const OperatorUse& use : uses) {
            const Operator op = shard(use.op, layout);
            const Bounds ideal = bounds(device_, op);
            sums.compute_s += use.count * ideal.compute_s;
            sums.memory_s += use.count * ideal.memory_s;
            out.push_back(place(op, use.count));
        }
        return out;
    }
    PlannedCalls place(const Operator& op, double count) {
        return {table_.add(op, device_), count, software_factor(software_, op)};
    }

private:
    const Device& device_;
    const Software& software_;
    OperatorTable& table_;
};

// Full checkpointing runs repeated blocks again, or the whole model where there are none; selective the scores of
// attention, which a fused kernel never stores.
bool runs_again(const Layer& layer, bool has_blocks, const std::string& checkpointing) {
    if (checkpointing == "full") return layer.block >= 0 || !has_blocks;
    return checkpointing == "selective" && layer.kind == LayerKind::attention && !layer.fused;
}

}  // namespace

Result<StepPlan> plan_step(const StepQuery& query, const Device& device, OperatorTable& table) {
    const Workload& workload = *query.workload;
    const Training& training = workload.training;
    const auto layout = make_layout(training.parallel, query.allocation);
    if (!layout) return layout.error();
    const auto micro_batch = micro_batch_of(training, *layout);
    if (!micro_batch) return micro_batch.error();
    StepPlan plan;
    plan.layout = *layout;
    plan.software = software_of(training);
    plan.micro_batch = *micro_batch;

    Planner planner(device, plan.software, table);
    const std::vector<Layer>& layers = workload.model.layers;
    const bool has_blocks =
        std::any_of(layers.begin(), layers.end(), [](const Layer& layer) { return layer.block >= 0; });
    const std::vector<LayerOperators> lowered = lower(workload.model, training, *micro_batch);
    for (std::size_t i = 0; i < lowered.size(); ++i) {
        const Layer& layer = layers[i];
        LayerPlan& out = plan.layers.emplace_back();
        for (const OperatorUse& use : lowered[i].forward) {
            out.flops += use.count * flops(use.op);
            out.bytes += use.count * bytes(use.op);
        }
        out.forward = planner.add(lowered[i].forward, *layout, out);
        if (training.forward_only) continue;
        out.backward = planner.add(lowered[i].backward, *layout, out);
        out.runs_again = !out.backward.empty() && runs_again(layer, has_blocks, training.activation_checkpointing);
        if (layer.trainable)
            out.gradient_bytes =
                static_cast<double>(layer.parameters) / layout->tp * gradient_bytes(training.precision);
    }
    for (const OperatorUse& use : lower_update(workload.model, training))
        plan.update.push_back(planner.place(shard_update(use.op, *layout), use.count));
    return plan;
}

}  // namespace dlcast
