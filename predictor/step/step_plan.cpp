// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/step_plan.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "predictor/base/deadline.h"
#include "predictor/step/step_doubt.h"

namespace dlcast {
namespace {

// Weight of the network's time of an fp32 layer beside the constants' (a weighted geometric mean): the two err in
// different shapes. Other precisions stand in no table of operators, so that the network has nothing to add there. By
// leaving out kinds of models: the network knows how convolutions differ, which the constants take for matrix products;
// of other products both know alike, unless a compiler has joined them with their neighbours; it knows row-wise kernels
// alone, which a model's stack fuses.
constexpr double share_of_convolutions = 0.70, share_of_products = 0.15;

double network_share(const LayerWork& layer, const SoftwareKind& software) {
    const auto has = [&](auto... kinds) {
        return std::any_of(layer.operators.begin(), layer.operators.end(),
                           [&](const OperatorUse& use) { return ((use.op.kind == kinds) || ...); });
    };
    if (has(OperatorKind::conv2d)) return share_of_convolutions;
    if (software.fusion == Fusion::by_compiler) return 0.0;
    return has(OperatorKind::linear, OperatorKind::bmm, OperatorKind::attention) ? share_of_products : 0.0;
}

constexpr double least_share = 0.01;  // of a step's layers

constexpr std::size_t many_layers = 1000;

// What the network says of one phase of a layer, drawn towards the constants' time of it.
double blended_s(double constants_s, const std::vector<PlacedCalls>& calls, const std::vector<OperatorTime>& times,
                 bool forward, double share) {
    double network_s = 0;
    for (const PlacedCalls& call : calls)
        if (call.forward == forward) network_s += call.count * times[call.place].median_s;
    if (network_s <= 0 || constants_s <= 0) return constants_s;
    return std::pow(constants_s, 1.0 - share) * std::pow(network_s, share);
}

}  // namespace

Result<std::vector<StepPlan>> plan_steps(const std::vector<StepQuery>& queries, const StepWeights& weights) {
    std::vector<StepPlan> out;
    out.reserve(queries.size());
    const Workload* last = nullptr;
    std::optional<LoweredLayers> layers;
    for (const StepQuery& query : queries) {
        // A model of many layers may take a submission's time at many places.
        if (query.workload->model.layers.size() > many_layers && Deadline::passed())
            return unavailable("its layers, at all places it may run, take all the time a submission may");
        if (query.workload != last) layers.emplace(*query.workload);
        last = query.workload;
        auto work = step_work(*query.workload, query.allocation, weights.collectives, *layers);
        if (!work) return work.error();
        out.push_back({std::move(*work), {}});
    }
    return out;
}

void place_calls(StepPlan& plan, const Device& device, OperatorTable& table, const std::vector<bool>& wanted) {
    plan.calls.reserve(plan.work.layers.size());
    for (std::size_t i = 0; i < plan.work.layers.size(); ++i) {
        const LayerWork& layer = plan.work.layers[i];
        auto& calls = plan.calls.emplace_back();
        if (!wanted.empty() && !wanted[i]) continue;
        calls.reserve(layer.operators.size());
        for (const OperatorUse& use : layer.operators)
            calls.push_back({table.add(use.op, device), use.count, use.op.phase == Phase::forward});
    }
}

StepEstimate totals_of(const StepWork& work, const StepWeights& weights, MemoryEstimator& memory) {
    const StepTimes<double> t = step_times(work, weights.coefficients);
    StepEstimate out;
    out.forward_s = t.forward_s;
    out.backward_s = t.backward_s;
    out.optimizer_s = t.update_s;
    out.communication_s = t.communication_s;
    out.exposed_communication_s = t.exposed_s;
    out.host_s = t.host_s;
    out.step_s = t.step_s;
    out.samples_per_step = static_cast<double>(work.micro_batch) * work.micro_steps * work.layout.dp;
    out.micro_batch = work.micro_batch;
    out.micro_steps = work.micro_steps;
    out.memory = memory.on(work.layout, work.micro_batch, work.device);
    return out;
}

double log_sd_of(const Workload& workload, const StepWork& work, const StepWeights& weights) {
    return weights.log_sd(work.device, workload.model.family,
                          constants_log_sd(work, weights.coefficients, weights.deviations));
}

std::vector<bool> layers_for_network(const Workload& workload, const StepWork& work,
                                     const std::vector<LayerSeconds>& layers) {
    std::vector<bool> out(layers.size(), false);
    if (workload.training.precision != Precision::fp32) return out;
    const auto seconds_of = [&](std::size_t i) {
        return work.layers[i].count * (layers[i].forward_s + layers[i].backward_s);
    };
    double all_s = 0;
    for (std::size_t i = 0; i < layers.size(); ++i) all_s += seconds_of(i);
    for (std::size_t i = 0; i < layers.size(); ++i)
        out[i] = seconds_of(i) >= least_share * all_s && network_share(work.layers[i], work.software) > 0;
    return out;
}

void blend_network(const Workload& workload, const StepPlan& plan, const std::vector<OperatorTime>& times,
                   std::vector<LayerSeconds>& layers, StepEstimate& out) {
    const std::vector<bool> asked = layers_for_network(workload, plan.work, layers);
    LayerSeconds before, after;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const double count = plan.work.layers[i].count;
        before.forward_s += count * layers[i].forward_s;
        before.backward_s += count * layers[i].backward_s;
        if (asked[i]) {
            const double share = network_share(plan.work.layers[i], plan.work.software);
            layers[i].forward_s = blended_s(layers[i].forward_s, plan.calls[i], times, true, share);
            layers[i].backward_s = blended_s(layers[i].backward_s, plan.calls[i], times, false, share);
        }
        after.forward_s += count * layers[i].forward_s;
        after.backward_s += count * layers[i].backward_s;
    }
    const auto scale = [&out](double& phase_s, double from_s, double to_s) {
        if (from_s <= 0) return;
        const double change_s = phase_s * (to_s / from_s - 1.0);
        phase_s += change_s;
        out.step_s += change_s;
    };
    scale(out.forward_s, before.forward_s, after.forward_s);
    scale(out.backward_s, before.backward_s, after.backward_s);
}

}  // namespace dlcast
