// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/step_estimate.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "predictor/step/exchange.h"
#include "predictor/step/memory.h"
#include "predictor/step/quantile.h"
#include "predictor/step/step_plan.h"
#include "predictor/timing/physics.h"

namespace dlcast {
namespace {

constexpr double floor_power = 4.0;        // how sharply the host's floor takes over from the GPU's time
constexpr double kernel_launch_s = 4e-6;   // below twice this a kernel is mostly launch
constexpr double accumulate_bytes = 12.0;  // per parameter and micro-step: read gradient and sum, write the sum
constexpr double stream_efficiency = 0.85;
// Errors of operators of one model on one GPU go together to about this degree; the rest averages out.
constexpr double error_correlation = 0.5;
// What frameworks, versions and data loading add: the same model, GPU and precision under another framework differs by
// 15 % (median) in public figures.
constexpr double software_log_sd = 0.15;

// Adds up calls and the spread of their sum.
struct Sum {
    double seconds = 0.0, kernels = 0.0;
    double linear_sd_s = 0.0, squared_sd_s2 = 0.0;

    void add(const std::vector<PlannedCalls>& calls, const std::vector<OperatorTime>& times) {
        for (const PlannedCalls& call : calls) {
            const double s = call.count * call.factor * times[call.place].median_s;
            const double sd_s = s * times[call.place].log_sd;
            seconds += s;
            kernels += call.count;
            linear_sd_s += sd_s;
            squared_sd_s2 += sd_s * sd_s;
        }
    }
    void add(const Sum& other) {
        seconds += other.seconds;
        kernels += other.kernels;
        linear_sd_s += other.linear_sd_s;
        squared_sd_s2 += other.squared_sd_s2;
    }
    double log_sd() const {
        if (seconds <= 0) return 0.0;
        return std::sqrt(error_correlation * linear_sd_s * linear_sd_s + (1 - error_correlation) * squared_sd_s2) /
               seconds;
    }
    double with_host(const Software& software) const {
        return smooth_maximum(seconds, kernels * software.host_s_per_kernel, floor_power);
    }
};

const char* bound_of(const LayerPlan& plan, const Sum& sum) {
    if (sum.seconds < 2 * kernel_launch_s * sum.kernels) return "launch";
    return plan.compute_s > plan.memory_s ? "compute" : "memory";
}

StepEstimate sum_up(const Workload& workload, const Device& device, const StepPlan& plan,
                    const std::vector<OperatorTime>& times, ComputeProfile& profile) {
    const Training& training = workload.training;
    StepEstimate out;
    Sum forward, backward, update;
    for (std::size_t i = 0; i < plan.layers.size(); ++i) {
        const LayerPlan& layer = plan.layers[i];
        Sum ahead, back;
        ahead.add(layer.forward, times);
        back.add(layer.backward, times);
        if (layer.runs_again) back.add(ahead);
        forward.add(ahead);
        backward.add(back);
        Sum both = ahead;
        both.add(back);
        const Layer& facts = workload.model.layers[i];
        out.layers.push_back({facts.name, to_string(facts.kind), ahead.seconds, back.seconds, layer.flops, layer.bytes,
                              bound_of(layer, both), both.log_sd()});
        profile.backward.push_back({back.seconds, layer.gradient_bytes});
    }
    update.add(plan.update, times);

    // A pipeline's stage has its part of the layers; the first micro-batch fills it: (pp - 1) / vp more micro-steps.
    const double stage = 1.0 / plan.layout.pp;
    const double micro_steps = static_cast<double>(std::max<std::int64_t>(1, training.grad_accum));
    const double passes = micro_steps + (plan.layout.pp - 1.0) / plan.layout.vp;
    const double forward_s = forward.with_host(plan.software) * stage;
    double backward_s = backward.with_host(plan.software) * stage;
    if (micro_steps > 1 && !training.forward_only) {
        const double parameters =
            static_cast<double>(workload.model.trainable_parameters) / (1.0 * plan.layout.tp * plan.layout.pp);
        backward_s += accumulate_bytes * parameters / (stream_efficiency * device.memory_bandwidth_Bps);
    }
    out.forward_s = forward_s * passes;
    out.backward_s = backward_s * passes;
    out.optimizer_s = update.with_host(plan.software);
    out.samples_per_step = static_cast<double>(plan.micro_batch) * micro_steps * plan.layout.dp;
    out.memory = estimate_memory(workload, plan.layout, plan.micro_batch);

    Sum all = forward;
    all.add(backward);
    all.add(update);
    out.log_sd = std::hypot(all.log_sd(), software_log_sd);

    std::reverse(profile.backward.begin(), profile.backward.end());
    const double scale = backward.seconds > 0 ? backward_s / backward.seconds : 0.0;
    for (GradientReady& layer : profile.backward) {
        layer.backward_s *= scale;
        layer.gradient_bytes *= stage;
    }
    if (training.forward_only) profile.backward.clear();
    profile.forward_s = forward_s;
    profile.micro_steps = micro_steps;
    profile.micro_batch = plan.micro_batch;
    return out;
}

}  // namespace

double StepEstimate::p05_s() const { return log_normal_quantile(step_s, log_sd, 0.05); }
double StepEstimate::p95_s() const { return log_normal_quantile(step_s, log_sd, 0.95); }

Result<std::vector<StepEstimate>> estimate_steps(const std::vector<StepQuery>& queries, const LayerTimeModel& model) {
    OperatorTable table;
    std::vector<StepPlan> plans;
    // Partitions with the same GPU share their operators' times.
    std::map<std::string, const Device*> devices;
    for (const StepQuery& query : queries) {
        const Device& device =
            *devices.try_emplace(query.allocation.device.name, &query.allocation.device).first->second;
        auto plan = plan_step(query, device, table);
        if (!plan) return plan.error();
        plans.push_back(std::move(*plan));
    }
    const auto times = table.times(model);
    if (!times) return times.error();
    std::vector<StepEstimate> out;
    for (std::size_t i = 0; i < queries.size(); ++i) {
        const Workload& workload = *queries[i].workload;
        ComputeProfile profile;
        StepEstimate step = sum_up(workload, queries[i].allocation.device, plans[i], *times, profile);
        const auto exchange = exchange_of(workload, plans[i].layout, plans[i].software, profile);
        if (!exchange) return exchange.error();
        step.communication_s = exchange->communication_s;
        step.exposed_communication_s = exchange->exposed_s;
        step.step_s = step.forward_s + step.backward_s + step.optimizer_s + step.exposed_communication_s +
                      plans[i].software.step_s;
        out.push_back(std::move(step));
    }
    return out;
}

}  // namespace dlcast
