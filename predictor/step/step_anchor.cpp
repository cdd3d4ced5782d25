// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/step_anchor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "predictor/device/usual_node.h"
#include "predictor/step/anchor_correction.h"
#include "predictor/step/least_step.h"
#include "predictor/step/step_physics.h"

namespace dlcast {
namespace {

constexpr std::size_t most_anchors = 8;  // a forged description must not hold the controller up

Result<Anchor> anchor_of(const Workload& workload, const MeasuredStep& measured, const DeviceCatalog& catalog,
                         const StepWeights& weights) {
    std::string assumed;
    auto device = catalog.find_or_typical(measured.gpu, assumed);
    if (!device) return Error{device.error().fault, measured.place + ": " + device.error().message};
    Workload same = workload;
    if (measured.batch_size > 0 && same.training.micro_batch > 0) {
        same.training.micro_batch = measured.batch_size;
    } else if (measured.batch_size > 0) {
        same.training.batch_size = measured.batch_size;
        same.training.global_batch = 0;
    }
    if (measured.precision) same.training.precision = *measured.precision;
    // A measured count has data ranks of its own.
    Parallel& parallel = same.training.parallel;
    parallel.dp = 0;
    const double replica = 1.0 * parallel.tp * parallel.pp * parallel.cp;  // double: degrees may be forged
    if (std::fmod(measured.gpus, replica) != 0)
        return invalid_argument(
            fmt::format("{}: a step of {} GPU{}, where tp {} x pp {} x cp {} take {:.0f} or a multiple; state as "
                        "\"gpus\" the count "
                        "it was measured on, or leave this step out",
                        measured.place, measured.gpus, measured.gpus == 1 ? "" : "s", parallel.tp, parallel.pp,
                        parallel.cp, replica));
    Allocation allocation;
    allocation.device = std::move(*device);
    const int most = usual_gpus_per_node(allocation.device);
    allocation.nodes = (measured.gpus + most - 1) / most;
    allocation.gpus_per_node = measured.gpus / std::max(1, allocation.nodes);
    allocation.intra_node = intra_node_link(allocation.device);
    const int gpus = std::max(1, allocation.gpus_per_node);
    allocation.inter_node = {5e-6, network_attained * usual_network(allocation.device).node_Bps(gpus) / gpus};
    const auto work = step_work(same, allocation, weights.collectives);
    if (!work) return Error{work.error().fault, measured.place + ": " + work.error().message};
    if (const double least_s = least_step_s(*work); 1e-3 * measured.step_ms < least_s)
        return invalid_argument(
            fmt::format("{}: {:g} ms a step, where arithmetic alone takes {} {:.3g} ms at its peak; state the "
                        "milliseconds of a whole "
                        "step of this batch, or leave this step out",
                        measured.place, measured.step_ms, allocation.device.name, 1e3 * least_s));
    const double forecast_s = step_times(*work, weights.coefficients).step_s;
    return Anchor{anchor_facts(same, allocation, work->micro_batch, work->micro_steps),
                  std::log(1e-3 * measured.step_ms / forecast_s)};
}

// How far the network drew this step from what the constants alone say, as a logarithm: anchors are held against the
// constants, and on the same GPU the network would have drawn them as far.
Result<double> network_shift(const StepQuery& query, const StepEstimate& step, const StepWeights& weights) {
    const auto work = step_work(*query.workload, query.allocation, weights.collectives);
    if (!work) return work.error();
    return std::log(step.step_s / step_times(*work, weights.coefficients).step_s);
}

void scale(StepEstimate& step, double factor) {
    for (double* part : {&step.forward_s, &step.backward_s, &step.optimizer_s, &step.communication_s,
                         &step.exposed_communication_s, &step.host_s, &step.step_s})
        *part *= factor;
    for (LayerTiming& layer : step.layers) {
        layer.forward_s *= factor;
        layer.backward_s *= factor;
    }
}

}  // namespace

Status anchor_steps(const std::vector<StepQuery>& queries, const DeviceCatalog& catalog, const StepWeights& weights,
                    std::vector<StepEstimate>& steps) {
    if (queries.empty()) return ok();
    const Workload& workload = *queries.front().workload;
    std::vector<Anchor> anchors;
    for (const MeasuredStep& measured : workload.training.measured) {
        if (anchors.size() == most_anchors) break;
        auto anchor = anchor_of(workload, measured, catalog, weights);
        if (!anchor) return anchor.error();
        anchors.push_back(std::move(*anchor));
    }
    // What a workload says of its own steps is nearer than what the site's other jobs say.
    if (anchors.empty()) {
        if (weights.factors.empty()) return ok();
        const std::string &family = workload.model.family, model = model_identity(workload.model);
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const std::string& gpu = queries[i].allocation.device.name;
            scale(steps[i], step_factor(weights.factors, gpu, family, model));
            steps[i].log_sd = refined_log_sd(weights.factors, gpu, family, model, steps[i].log_sd);
        }
        return ok();
    }
    const auto& families = weights.families;
    const bool known = std::find(families.begin(), families.end(), workload.model.family) != families.end();
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const AnchorFacts facts =
            anchor_facts(workload, queries[i].allocation, steps[i].micro_batch, steps[i].micro_steps);
        const auto shift = network_shift(queries[i], steps[i], weights);
        if (!shift) return shift.error();
        std::vector<Anchor> here = anchors;
        for (Anchor& anchor : here)
            if (anchor.facts.gpu == facts.gpu) anchor.log_ratio -= *shift;
        const AnchorCorrection correction = anchor_correction(facts, here, known, steps[i].log_sd);
        scale(steps[i], correction.factor);
        steps[i].log_sd *= correction.spread_share;
    }
    return ok();
}

}  // namespace dlcast
