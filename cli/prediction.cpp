// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/prediction.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/counted.h"
#include "cli/least_certain.h"
#include "cli/placements.h"
#include "predictor/job/possible_placements.h"
#include "predictor/step/memory.h"
#include "predictor/step/step_anchor.h"

namespace dlcast {
namespace {

// A training that names no partition asks for GPUs; CPUs do where there are none.
void prefer_gpus(Placements& placements) {
    const auto on_gpus = [](const Placement& placement) { return !placement.on_cpu; };
    if (std::any_of(placements.found.begin(), placements.found.end(), on_gpus))
        std::erase_if(placements.found, [&](const Placement& placement) { return !on_gpus(placement); });
}

// The options that say the same as the keys which missing_duration names.
std::string remedy_here(const Workload& workload) {
    if (workload.training.epochs) return ", or --steps S, or --dataset NAME";
    return workload.training.tokens ? ", or --seq-len L" : ", or --epochs E, or --steps S";
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
    std::vector<StepQuery> queries;
    for (const Placement& placement : placements) queries.push_back({&workload, placement.allocation});
    auto steps = estimate_steps(queries, *site.model, *site.steps);
    if (!steps) return steps.error();
    if (const auto status = anchor_steps(queries, *site.catalog, *site.steps, *steps); !status) return status.error();
    add_input_waits(queries, site.config->input, *steps);
    std::vector<Candidate> out;
    for (std::size_t i = 0; i < placements.size(); ++i)
        out.push_back(make_candidate(workload, (*steps)[i], placements[i], *site.config));
    return out;
}

Result<Prediction> make_prediction(const PredictOptions& options, const PredictSite& given) {
    const SiteConfig config = site_of(options, *given.config);
    PredictSite site = given;
    site.config = &config;
    const auto declaration = read_model_argument(options.model);
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

    Prediction out;
    out.placement = placements->found[best];
    out.candidate = std::move((*candidates)[best]);
    out.largest_micro_batch = *largest_micro_batch(*workload, out.placement.allocation);
    // As slurmctld records it: the network's answer enters fp32 steps alone.
    const bool by_network = workload->training.precision == Precision::fp32;
    out.origin = {by_network ? site.model->by() : "analytic", site.model->weights_id()};
    out.assumed = workload->assumed;
    out.assumed.insert(out.assumed.end(), out.placement.assumed.begin(), out.placement.assumed.end());
    out.left_out = std::move(placements->misses);
    out.warnings = workload->warnings;
    if (options.gpus == 0 && (!out.placement.on_cpu || options.nodes == 0))
        out.assumed.push_back(counted(out.candidate.allocation.world_size(), out.placement.on_cpu ? "node" : "GPU") +
                              " (not stated)");
    for (std::string& warning : named_but_closed(options.partition, site)) out.warnings.push_back(std::move(warning));
    if (!out.candidate.job) out.warnings.push_back(missing_duration(*workload) + remedy_here(*workload));
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
    out.least_certain = least_certain_layers(out.candidate.step.layers);
    out.workload = std::move(*workload);
    return out;
}

}  // namespace dlcast
