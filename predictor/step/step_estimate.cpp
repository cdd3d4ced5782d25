// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/step_estimate.h"

#include <cmath>
#include <map>

#include "predictor/step/memory.h"
#include "predictor/step/operator_table.h"
#include "predictor/step/quantile.h"
#include "predictor/step/step_physics.h"

namespace dlcast {
namespace {

// Errors of operators of one layer on one GPU go together to about this degree; the rest averages out.
constexpr double error_correlation = 0.5;

// Weight of the network's time of an fp32 layer beside the constants' (a weighted geometric mean): the two err in
// different shapes. Other precisions stand in no table of operators, so that the network has nothing to add there.
constexpr double network_share = 0.15;

struct PlacedCalls {
    std::size_t place = 0;  // in the table of operators
    double count = 0.0;
    bool forward = true;
};

struct Plan {
    StepWork work;
    std::vector<std::vector<PlacedCalls>> calls;  // by layer
};

Plan place_calls(StepWork work, const Device& device, OperatorTable& table) {
    Plan plan;
    for (const LayerWork& layer : work.layers) {
        auto& calls = plan.calls.emplace_back();
        for (const OperatorUse& use : layer.operators)
            calls.push_back({table.add(use.op, device), use.count, use.op.phase == Phase::forward});
    }
    plan.work = std::move(work);
    return plan;
}

double layer_log_sd(const std::vector<PlacedCalls>& calls, const std::vector<OperatorTime>& times) {
    double sum_s = 0, linear_sd_s = 0, squared_sd_s2 = 0;
    for (const PlacedCalls& call : calls) {
        const double s = call.count * times[call.place].median_s;
        const double sd_s = s * times[call.place].log_sd;
        sum_s += s;
        linear_sd_s += sd_s;
        squared_sd_s2 += sd_s * sd_s;
    }
    if (sum_s <= 0) return 0.0;
    return std::sqrt(error_correlation * linear_sd_s * linear_sd_s + (1 - error_correlation) * squared_sd_s2) / sum_s;
}

// Doubts about operators that take a tenth of the layer's time at least.
Doubts layer_doubts(const std::vector<PlacedCalls>& calls, const std::vector<OperatorTime>& times) {
    double sum_s = 0;
    for (const PlacedCalls& call : calls) sum_s += call.count * times[call.place].median_s;
    Doubts out;
    for (const PlacedCalls& call : calls) {
        if (call.count * times[call.place].median_s < 0.1 * sum_s) continue;
        const Doubts& of = times[call.place].doubts;
        out.analytic |= of.analytic;
        out.unseen_gpu |= of.unseen_gpu;
        out.far_from_data |= of.far_from_data;
        out.other_precision |= of.other_precision;
    }
    return out;
}

// What the network says of one phase of a layer, drawn towards the constants' time of it.
double blended_s(double constants_s, const std::vector<PlacedCalls>& calls, const std::vector<OperatorTime>& times,
                 bool forward) {
    double network_s = 0;
    for (const PlacedCalls& call : calls)
        if (call.forward == forward) network_s += call.count * times[call.place].median_s;
    if (network_s <= 0 || constants_s <= 0) return constants_s;
    return std::pow(constants_s, 1.0 - network_share) * std::pow(network_s, network_share);
}

// Draws the layers of an fp32 step, and with them forward and backward as a whole, towards the network.
void blend_network(const Workload& workload, const Plan& plan, const std::vector<OperatorTime>& times,
                   std::vector<LayerSeconds>& layers, StepEstimate& out) {
    if (workload.training.precision != Precision::fp32) return;
    LayerSeconds before, after;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        before.forward_s += layers[i].forward_s;
        before.backward_s += layers[i].backward_s;
        layers[i].forward_s = blended_s(layers[i].forward_s, plan.calls[i], times, true);
        layers[i].backward_s = blended_s(layers[i].backward_s, plan.calls[i], times, false);
        after.forward_s += layers[i].forward_s;
        after.backward_s += layers[i].backward_s;
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

void sum_forward(const LayerWork& work, LayerTiming& out) {
    for (const WorkItem& item : work.forward) {
        out.flops += item.count * item.flops;
        out.bytes += item.count * item.bytes;
    }
}

StepEstimate estimate(const Workload& workload, const Plan& plan, const std::vector<OperatorTime>& times,
                      const StepWeights& weights, bool has_network) {
    const StepWork& work = plan.work;
    const StepTimes<double> t = step_times(work, weights.coefficients);
    StepEstimate out;
    out.forward_s = t.forward_s;
    out.backward_s = t.backward_s;
    out.optimizer_s = t.update_s;
    out.communication_s = t.communication_s;
    out.exposed_communication_s = t.exposed_s;
    out.host_s = t.host_s;
    out.step_s = t.step_s;
    out.log_sd = weights.log_sd(work.device, workload.model.family);
    out.samples_per_step = static_cast<double>(work.micro_batch) * work.micro_steps * work.layout.dp;
    out.micro_batch = work.micro_batch;
    out.memory = estimate_memory(workload, work.layout, work.micro_batch, work.device);
    std::vector<LayerSeconds> seconds = layer_seconds(work, weights.coefficients);
    if (has_network) blend_network(workload, plan, times, seconds, out);
    for (std::size_t i = 0; i < seconds.size(); ++i) {
        const Layer& layer = workload.model.layers[i];
        LayerTiming timing;
        timing.name = layer.name;
        timing.kind = to_string(layer.kind);
        timing.forward_s = seconds[i].forward_s;
        timing.backward_s = seconds[i].backward_s;
        timing.bound = seconds[i].bound;
        timing.log_sd = layer_log_sd(plan.calls[i], times);
        timing.doubts = layer_doubts(plan.calls[i], times);
        sum_forward(work.layers[i], timing);
        out.layers.push_back(std::move(timing));
    }
    return out;
}

}  // namespace

double StepEstimate::p05_s() const { return log_normal_quantile(step_s, log_sd, 0.05); }
double StepEstimate::p95_s() const { return log_normal_quantile(step_s, log_sd, 0.95); }

Result<std::vector<StepEstimate>> estimate_steps(const std::vector<StepQuery>& queries, const LayerTimeModel& model,
                                                 const StepWeights& weights) {
    OperatorTable table;
    std::vector<Plan> plans;
    // Partitions with the same GPU share their operators' times.
    std::map<std::string, const Device*> devices;
    for (const StepQuery& query : queries) {
        const Device& device =
            *devices.try_emplace(query.allocation.device.name, &query.allocation.device).first->second;
        auto work = step_work(*query.workload, query.allocation, weights.collectives);
        if (!work) return work.error();
        plans.push_back(place_calls(std::move(*work), device, table));
    }
    const auto times = table.times(model);
    if (!times) return times.error();
    std::vector<StepEstimate> out;
    for (std::size_t i = 0; i < queries.size(); ++i)
        out.push_back(estimate(*queries[i].workload, plans[i], *times, weights, model.by() == "torch"));
    return out;
}

}  // namespace dlcast
