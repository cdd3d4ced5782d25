// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/step_estimate.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "predictor/step/operator_table.h"
#include "predictor/step/quantile.h"
#include "predictor/step/step_physics.h"
#include "predictor/step/step_plan.h"

namespace dlcast {
namespace {

// Errors of operators of one layer on one GPU go together to about this degree; the rest averages out.
constexpr double error_correlation = 0.5;

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
        out.unseen_calls |= of.unseen_calls;
        out.left_calls |= of.left_calls;
        out.far_from_data |= of.far_from_data;
        out.other_precision |= of.other_precision;
    }
    return out;
}

void sum_forward(const LayerWork& work, LayerTiming& out) {
    for (const WorkItem& item : work.forward) {
        out.flops += item.count * item.flops;
        out.bytes += item.count * item.bytes;
    }
}

StepEstimate estimate(const Workload& workload, const StepPlan& plan, const std::vector<OperatorTime>& times,
                      const StepWeights& weights, bool has_network) {
    MemoryEstimator memory(workload);
    StepEstimate out = totals_of(plan.work, weights, memory);
    out.log_sd = log_sd_of(workload, plan.work, weights);
    std::vector<LayerSeconds> seconds = layer_seconds(plan.work, weights.coefficients);
    if (has_network) blend_network(workload, plan, times, seconds, out);
    const auto is_of = [&](const StepFactor& factor) { return factor.gpu == plan.work.device.name; };
    const bool steps_measured = std::any_of(weights.factors.begin(), weights.factors.end(), is_of);
    out.layers.reserve(workload.model.layers.size());
    for (std::size_t i = 0; i < workload.model.layers.size(); ++i) {
        const Layer& layer = workload.model.layers[i];
        const std::size_t place = plan.work.layer_place[i];
        LayerTiming timing;
        timing.name = layer.name;
        timing.kind = to_string(layer.kind);
        timing.forward_s = seconds[place].forward_s;
        timing.backward_s = seconds[place].backward_s;
        timing.bound = seconds[place].bound;
        timing.log_sd = layer_log_sd(plan.calls[place], times);
        timing.doubts = layer_doubts(plan.calls[place], times);
        if (timing.doubts.unseen_gpu && steps_measured) {
            timing.doubts.unseen_gpu = false;
            timing.doubts.unseen_calls = true;
        }
        sum_forward(plan.work.layers[place], timing);
        out.layers.push_back(std::move(timing));
    }
    return out;
}

}  // namespace

double StepEstimate::p05_s() const { return log_normal_quantile(step_s, log_sd, 0.05); }
double StepEstimate::p95_s() const { return log_normal_quantile(step_s, log_sd, 0.95); }

Result<std::vector<StepEstimate>> estimate_steps(const std::vector<StepQuery>& queries, const LayerTimeModel& model,
                                                 const StepWeights& weights) {
    auto plans = plan_steps(queries, weights);
    if (!plans) return plans.error();
    OperatorTable table;
    // Partitions with the same GPU share their operators' times.
    std::map<std::string, const Device*> devices;
    for (std::size_t i = 0; i < queries.size(); ++i) {
        const Device& own = queries[i].allocation.device;
        place_calls((*plans)[i], *devices.try_emplace(own.name, &own).first->second, table);
    }
    const auto times = table.times(model);
    if (!times) return times.error();
    std::vector<StepEstimate> out;
    for (std::size_t i = 0; i < queries.size(); ++i)
        out.push_back(estimate(*queries[i].workload, (*plans)[i], *times, weights, model.by() == "torch"));
    return out;
}

}  // namespace dlcast
