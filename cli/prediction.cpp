// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/prediction.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/counted.h"
#include "cli/least_certain.h"
#include "cli/placements.h"
#include "predictor/base/text.h"
#include "predictor/job/possible_placements.h"
#include "predictor/model/overrides.h"
#include "predictor/step/distinct_queries.h"
#include "predictor/step/memory.h"
#include "predictor/step/step_anchor.h"
#include "predictor/step/step_physics.h"

namespace dlcast {
namespace {

// A training that names no partition asks for GPUs; CPUs do where there are none.
void prefer_gpus(Placements& placements) {
    const auto on_gpus = [](const Placement& placement) { return !placement.on_cpu; };
    if (std::any_of(placements.found.begin(), placements.found.end(), on_gpus))
        std::erase_if(placements.found, [&](const Placement& placement) { return !on_gpus(placement); });
}

// As many steps are estimated at once and keep their layers; more of them would hold every layer of each.
constexpr std::size_t most_with_layers = 64;

Result<std::vector<StepEstimate>> steps_of(const std::vector<StepQuery>& queries, const PredictSite& site) {
    auto steps = estimate_steps(queries, *site.model, *site.steps);
    if (!steps) return steps.error();
    if (const auto status = anchor_steps(queries, *site.catalog, *site.steps, *steps); !status) return status.error();
    add_input_waits(queries, site.config->input, *steps);
    return steps;
}

// The host's time is the weights' own figure, of trainings elsewhere; a declared step corrects the whole.
void name_host_time(const Workload& workload, Prediction& prediction) {
    const double host_s = prediction.candidate.step.host_s;
    if (host_s <= 0 || !workload.training.measured.empty()) return;
    const StepConstant constant = host_step_constant(software_kind(workload.model, workload.training).host);
    prediction.assumed.push_back(fmt::format(
        "host {} a step ({} of the weights' {}; a step declared in training.measured corrects it)",
        format_step_time(host_s), constant_facts()[static_cast<std::size_t>(constant)].name, step_weights_file));
}

}  // namespace

SiteConfig site_of(const PredictOptions& options, const SiteConfig& config) {
    SiteConfig out = config;
    if (options.network_Gbps <= 0) return out;
    out.inter_node_bandwidth_Bps = options.network_Gbps * 1e9 / 8;
    out.network_source = "--network-gbps";
    return out;
}

Result<std::vector<Candidate>> candidates_on(const Workload& workload, const std::vector<Placement>& placements,
                                             const PredictSite& site) {
    std::vector<StepQuery> asked;
    for (const Placement& placement : placements) asked.push_back({&workload, placement.allocation});
    const DistinctQueries distinct = distinct_queries(asked);
    std::vector<StepEstimate> steps;
    while (steps.size() < distinct.queries.size()) {
        const auto begin = distinct.queries.begin() + static_cast<std::ptrdiff_t>(steps.size());
        const auto count = std::min(most_with_layers, distinct.queries.size() - steps.size());
        auto some = steps_of({begin, begin + static_cast<std::ptrdiff_t>(count)}, site);
        if (!some) return some.error();
        for (StepEstimate& step : *some) {
            if (placements.size() > most_with_layers) step.layers = {};
            steps.push_back(std::move(step));
        }
    }
    std::vector<Candidate> out;
    for (std::size_t i = 0; i < placements.size(); ++i)
        out.push_back(make_candidate(workload, steps[distinct.places[i]], placements[i], *site.config));
    return out;
}

Result<Prediction> make_prediction(const PredictOptions& options, const PredictSite& given) {
    const SiteConfig config = site_of(options, *given.config);
    PredictSite site = given;
    site.config = &config;
    const auto declaration = read_model_argument(options.model, options.overrides);
    if (!declaration) return declaration.error();
    auto workload = to_workload(*declaration, options.overrides);
    if (!workload) return workload.error();
    auto placements = placements_of(options, site);
    if (!placements) return placements.error();
    if (const auto status = keep_possible(*workload, *placements); !status) return status.error();
    if (options.partition.empty()) prefer_gpus(*placements);
    auto candidates = candidates_on(*workload, placements->found, site);
    if (!candidates) return candidates.error();
    const auto best = static_cast<std::size_t>(choose_candidate(*candidates, placements->found, config.ranking));
    Candidate& chosen = (*candidates)[best];
    if (chosen.step.layers.empty()) {
        auto again = candidates_on(*workload, {placements->found[best]}, site);
        if (!again) return again.error();
        chosen = std::move(again->front());
    }

    Prediction out;
    out.placement = placements->found[best];
    out.candidate = std::move(chosen);
    out.largest_micro_batch = *largest_micro_batch(*workload, out.placement.allocation);
    // As slurmctld records it: the network's answer enters fp32 steps alone.
    const bool by_network = workload->training.precision == Precision::fp32;
    out.origin = {by_network ? site.model->by() : "analytic", site.model->weights_id()};
    out.assumed = workload->assumed;
    name_host_time(*workload, out);
    out.assumed.insert(out.assumed.end(), out.placement.assumed.begin(), out.placement.assumed.end());
    out.left_out = std::move(placements->misses);
    out.warnings = workload->warnings;
    if (options.gpus == 0 && (!out.placement.on_cpu || options.nodes == 0))
        out.assumed.push_back(counted(out.candidate.allocation.world_size(), unit_of(out.placement)) + " (not stated)");
    for (std::string& warning : named_but_closed(options.partition, site)) out.warnings.push_back(std::move(warning));
    if (!out.candidate.job) out.warnings.push_back(missing_duration(*workload, OptionsOf::dlcast));
    if (!out.candidate.reason.empty()) out.warnings.push_back(out.candidate.reason);
    if (const std::string lack = missing_unit(out.placement.allocation.device, workload->training.precision);
        !lack.empty())
        out.warnings.push_back(lack);
    if (const std::size_t count = workload->training.measured.size(); count > 0) {
        const auto plain = estimate_steps({{&*workload, out.placement.allocation}}, *site.model, *site.steps);
        if (!plain) return plain.error();
        out.anchored = fmt::format("{}: the forecast is multiplied by {:.3f}", counted(count, "declared step"),
                                   out.candidate.step.step_s / plain->front().step_s);
    }
    out.refused = refuses(out.candidate, config);
    out.least_certain = least_certain_layers(out.candidate.step.layers);
    out.workload = std::move(*workload);
    return out;
}

}  // namespace dlcast
