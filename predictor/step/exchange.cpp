// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/exchange.h"

#include <algorithm>
#include <cmath>

#include "predictor/model/shape.h"

namespace dlcast {
namespace {

constexpr double prefetch_overlap = 0.84;     // share of FSDP traffic that may hide behind compute
constexpr double context_overlap = 0.70;      // of keys and values, behind attention blocks
constexpr double sharded_unit_bytes = 100e6;  // a wrapped block of layers: one gather each

std::uint64_t whole(double bytes) { return static_cast<std::uint64_t>(std::clamp(bytes, 0.0, 1e18)); }

Group slowed(Group group, double efficiency) {
    group.intra_node.bandwidth_Bps *= efficiency;
    group.inter_node.bandwidth_Bps *= efficiency;
    return group;
}

// `bytes` in messages of at most `unit` each.
Result<double> gather_in_units_s(const Group& group, double bytes, double unit) {
    const double count = std::max(1.0, std::ceil(bytes / unit));
    auto one = allgather_s(group, whole(bytes / count));
    if (!one) return one;
    return count * *one;
}

double backward_seconds(const ComputeProfile& compute) {
    double sum = 0;
    for (const GradientReady& layer : compute.backward) sum += layer.backward_s;
    return sum;
}

Result<Exchange> reduce_gradients(const Layout& layout, const Software& software, const ComputeProfile& compute) {
    const Group group = slowed(layout.data, software.exchange_efficiency);
    if (auto probe = allreduce_s(group, 1); !probe) return probe.error();
    // A framework that overlaps only a part of backward sees that part of each layer's time.
    std::vector<GradientReady> visible = compute.backward;
    for (GradientReady& layer : visible) layer.backward_s *= software.overlap;
    const OverlapResult result =
        overlap_backward(visible, {}, [&](double bytes) { return *allreduce_s(group, whole(bytes)); });
    return Exchange{result.communication_s, result.exposed_s};
}

Result<Exchange> gather_and_scatter(const Workload& workload, const Layout& layout, const ComputeProfile& compute) {
    const double parameters = static_cast<double>(workload.model.parameters) / (1.0 * layout.tp * layout.pp);
    const bool wide = workload.training.precision == Precision::fp32 || workload.training.precision == Precision::tf32;
    const auto gather = gather_in_units_s(layout.data, parameters * (wide ? 4 : 2), sharded_unit_bytes);
    if (!gather) return gather.error();
    const bool trains = !compute.backward.empty();
    const double forward_s = *gather;
    const double backward_s = trains ? 2 * *gather : 0.0;
    const auto exposed = [](double traffic_s, double compute_s) {
        return (1 - prefetch_overlap) * traffic_s + std::max(0.0, prefetch_overlap * traffic_s - compute_s);
    };
    Exchange out;
    out.communication_s = compute.micro_steps * (forward_s + backward_s);
    out.exposed_s =
        compute.micro_steps * (exposed(forward_s, compute.forward_s) + exposed(backward_s, backward_seconds(compute)));
    return out;
}

// Elements of one sample that leave each attention block; where there is no attention, each second linear layer.
std::vector<double> block_outputs(const ModelSpec& model) {
    std::vector<double> attention, linear;
    for (const Layer& layer : model.layers) {
        if (layer.kind == LayerKind::attention) attention.push_back(elements(layer.output));
        if (layer.kind == LayerKind::linear)
            linear.push_back(elements(layer.output) / 4);  // half the layers, half the all-reduces
    }
    return attention.empty() ? linear : attention;
}

Result<Exchange> reduce_tensors(const Workload& workload, const Layout& layout, const Software& software,
                                const ComputeProfile& compute) {
    const bool again = workload.training.activation_checkpointing == "full";
    const double reductions = workload.training.forward_only ? 2 : again ? 6 : 4;
    double micro_step_s = 0;
    for (const double out : block_outputs(workload.model)) {
        const double bytes =
            out * static_cast<double>(compute.micro_batch) * element_bytes(workload.training.precision) / layout.cp;
        const auto one = allreduce_s(layout.tensor, whole(bytes));
        if (!one) return one.error();
        micro_step_s += reductions * *one;
    }
    const double seconds = micro_step_s / layout.pp * compute.micro_steps;
    return Exchange{seconds, (1 - software.tensor_overlap) * seconds};
}

Result<Exchange> pass_keys_and_values(const Workload& workload, const Layout& layout, const ComputeProfile& compute) {
    const double passes = workload.training.forward_only ? 1 : 3;  // backward sends them again, and their gradients
    double micro_step_s = 0;
    for (const Layer& layer : workload.model.layers) {
        if (layer.kind != LayerKind::attention || layer.output.empty()) continue;
        const double width =
            static_cast<double>(std::max<std::int64_t>(1, layer.kv_heads) * std::max<std::int64_t>(1, layer.head_dim));
        const double bytes = 2 * width * static_cast<double>(layer.output.front()) *
                             static_cast<double>(compute.micro_batch) * element_bytes(workload.training.precision) /
                             layout.tp;
        const auto one = allgather_s(layout.context, whole(bytes));
        if (!one) return one.error();
        micro_step_s += passes * *one;
    }
    const double seconds = micro_step_s / layout.pp * compute.micro_steps;
    return Exchange{seconds, (1 - context_overlap) * seconds};
}

Exchange pass_stages(const Workload& workload, const Layout& layout, const ComputeProfile& compute) {
    const std::vector<double> blocks = block_outputs(workload.model);
    const double widest = blocks.empty() ? 0.0 : *std::max_element(blocks.begin(), blocks.end());
    const Link& link =
        layout.data.nodes > 1 || layout.tensor.nodes > 1 ? layout.data.inter_node : layout.data.intra_node;
    const double bytes = widest * static_cast<double>(compute.micro_batch) *
                         element_bytes(workload.training.precision) / (1.0 * layout.tp * layout.cp);
    const double one_s = link.latency_s + (link.bandwidth_Bps > 0 ? bytes / link.bandwidth_Bps : 0.0);
    const double seconds = (workload.training.forward_only ? 1 : 2) * layout.vp * one_s * compute.micro_steps;
    return {seconds, seconds};
}

}  // namespace

double gradient_bytes(Precision precision) {
    return precision == Precision::fp16 || precision == Precision::bf16 || precision == Precision::fp8 ? 2.0 : 4.0;
}

Result<Exchange> exchange_of(const Workload& workload, const Layout& layout, const Software& software,
                             const ComputeProfile& compute) {
    Exchange sum;
    const auto add = [&sum](const Result<Exchange>& part) -> Status {
        if (!part) return part.error();
        sum.communication_s += part->communication_s;
        sum.exposed_s += part->exposed_s;
        return ok();
    };
    if (layout.data.ranks() > 1) {
        const bool sharded = layout.weight_shards > 1;
        if (sharded)
            if (auto status = add(gather_and_scatter(workload, layout, compute)); !status) return status.error();
        if (!sharded && !compute.backward.empty())
            if (auto status = add(reduce_gradients(layout, software, compute)); !status) return status.error();
    }
    if (layout.tp > 1)
        if (auto status = add(reduce_tensors(workload, layout, software, compute)); !status) return status.error();
    if (layout.cp > 1)
        if (auto status = add(pass_keys_and_values(workload, layout, compute)); !status) return status.error();
    if (layout.pp > 1)
        if (auto status = add(pass_stages(workload, layout, compute)); !status) return status.error();
    return sum;
}

}  // namespace dlcast
