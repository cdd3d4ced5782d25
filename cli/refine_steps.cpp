// SPDX-License-Identifier: GPL-2.0-or-later
// Measured steps of whole models as ratios to their forecasts.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/doubtful_samples.h"
#include "cli/refined_part.h"
#include "predictor/device/usual_node.h"
#include "predictor/step/least_step.h"
#include "predictor/step/step_estimate.h"

namespace dlcast {
namespace {

// Forecasts of memory err by less; what needs more than that of its device was not measured on it.
constexpr double most_memory_error = 2.0;
constexpr double bytes_per_GiB = 1024.0 * 1024.0 * 1024.0;

// A step of several ranks that exchanges nothing is no training.
bool is_training_step(const MeasuredPass& pass) {
    const bool exchanges = pass.ranks == 1 || pass.bucket_bytes > 0;
    return pass.pass == Pass::step && exchanges && pass.ranks % std::max(1, pass.nodes) == 0;
}

Result<Workload> workload_of(const MeasuredPass& pass) {
    const auto declaration = read_model_argument(pass.model);
    if (!declaration) return declaration.error();
    WorkloadOverrides overrides;
    overrides.batch_size = pass.batch;
    overrides.precision = pass.precision;
    if (pass.optimizer != Optimizer::none) overrides.optimizer = to_string(pass.optimizer);
    return to_workload(*declaration, overrides);
}

Allocation allocation_of(const MeasuredPass& pass, const Device& device) {
    Allocation out;
    out.device = device;
    out.nodes = pass.nodes;
    out.gpus_per_node = pass.ranks / pass.nodes;
    out.intra_node = intra_node_link(device);
    const double node_Bps = usual_network(device).node_Bps(out.gpus_per_node);
    out.inter_node = {5e-6, network_attained * node_Bps / out.gpus_per_node};
    return out;
}

}  // namespace

Result<std::vector<StepRatio>> step_ratios(SiteSamples& samples, const WeightsInForce& before, const Say& say) {
    std::vector<StepRatio> out;
    std::vector<SampledPass> used;
    StepWeights plain = before.steps;
    plain.factors.clear();
    FewLines lines(say);
    for (SampledPass& sample : samples.passes) {
        const MeasuredPass& pass = sample.pass;
        if (!is_training_step(pass)) continue;
        const auto workload = workload_of(pass);
        if (!workload) {
            lines.add(fmt::format("{}: a measured step is left out: {}", sample.place, workload.error().message));
            continue;
        }
        const Allocation allocation = allocation_of(pass, samples.devices.at(sample.gpu));
        const auto work = step_work(*workload, allocation, plain.collectives);
        if (!work) {
            lines.add(fmt::format("{}: a measured step is left out: {}", sample.place, work.error().message));
            continue;
        }
        const auto steps = estimate_steps({{&*workload, allocation}}, before.model, plain);
        if (!steps) return steps.error();
        const double forecast_s = steps->front().step_s;
        const std::string what = sample_words(sample);
        const double needed_bytes = steps->front().memory.total_bytes();
        if (needed_bytes > most_memory_error * allocation.device.memory_bytes) {
            lines.add(fmt::format(
                "{}: {} needs about {:.0f} GiB of the {:.0f} GiB there are, so it was not measured "
                "there; left out. Check its model, batch and device",
                sample.place, what, needed_bytes / bytes_per_GiB, allocation.device.memory_bytes / bytes_per_GiB));
            continue;
        }
        const double least_s = least_step_s(*work);
        const std::string doubt = doubt_about(sample, what, sample.gpu, least_s, forecast_s);
        if (!doubt.empty()) {
            lines.add(doubt);
            if (is_too_fast(sample, least_s)) ++samples.too_fast[sample.gpu];
            continue;
        }
        out.push_back({sample.gpu, workload->model.family, model_identity(workload->model),
                       std::log(sample.time_s / forecast_s), 1, measured_step_log_sd,
                       fmt::format("{}: {}", sample.place, what)});
        used.push_back(std::move(sample));
    }
    samples.passes = std::move(used);
    return out;
}

}  // namespace dlcast
