// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/prediction.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/least_certain.h"
#include "predictor/base/text.h"
#include "predictor/device/usual_node.h"
#include "predictor/job/possible_placements.h"
#include "predictor/step/memory.h"
#include "predictor/step/step_anchor.h"

namespace dlcast {
namespace {

Result<GpuRequest> requested(const PredictOptions& options) {
    GpuRequest out{.type = "", .gpus = options.gpus, .nodes = options.nodes, .gpus_per_node = 0};
    if (out.gpus == 0) out.gpus = std::max(1, out.nodes);
    if (out.nodes == 0) return out;
    if (out.gpus < out.nodes)
        return invalid_argument(
            fmt::format("--gpus {} is less than --nodes {}; --gpus counts the GPUs of all nodes, so "
                        "write --gpus {} or a multiple",
                        out.gpus, out.nodes, out.nodes));
    if (out.gpus % out.nodes != 0)
        return invalid_argument(
            fmt::format("--gpus {} does not divide evenly over --nodes {}; --gpus counts the GPUs of all nodes, "
                        "{} or {} would do",
                        out.gpus, out.nodes, out.gpus / out.nodes * out.nodes, (out.gpus / out.nodes + 1) * out.nodes));
    out.gpus_per_node = out.gpus / out.nodes;
    return out;
}

// A GPU by name stands on nodes that hold what is asked; of the usual size, where their number is not said.
Placements free_standing(const Device& device, const std::string& assumed, const GpuRequest& gpus,
                         const SiteConfig& site) {
    Placement placement;
    placement.gres = device.name;
    if (!assumed.empty()) placement.assumed.push_back(assumed);
    placement.allocation.device = device;
    placement.allocation.nodes = gpus.nodes;
    placement.allocation.gpus_per_node = gpus.gpus_per_node;
    if (gpus.nodes == 0) {
        // As many nodes as GPUs hold any count, so this does not fail.
        const NodeCount count = *place_gpus(gpus, usual_gpus_per_node(device), gpus.gpus);
        placement.allocation.nodes = count.nodes;
        placement.allocation.gpus_per_node = count.gpus_per_node;
        if (gpus.gpus > 1)
            placement.assumed.push_back(nodes_text(count.nodes, count.gpus_per_node) + " (--nodes not stated)");
    }
    set_links(placement, site);
    return {{placement}, {}};
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

Result<Placements> placements_of(const PredictOptions& options, const PredictSite& site) {
    const auto gpus = requested(options);
    if (!gpus) return gpus.error();
    std::optional<Device> device;
    std::string assumed;
    if (!options.gpu.empty()) {
        auto found = site.catalog->find_or_typical(options.gpu, assumed);
        if (!found) return found.error();
        device = std::move(*found);
        if (options.partition.empty()) return free_standing(*device, assumed, *gpus, *site.config);
    }
    if (!site.cluster)
        return invalid_argument(
            options.partition.empty()
                ? "no GPU named; add --gpu NAME (as nvidia-smi or gres.conf writes it), or --partition with a "
                  "cluster file (dlcast sync)"
                : fmt::format("partition {}: there is no cluster file; write one with dlcast sync, or name a GPU "
                              "with --gpu",
                              options.partition));
    SubmitRequest request;
    request.partition = options.partition;
    Placements out = find_placements(*site.cluster, *site.catalog, *site.config, request, *gpus);
    if (device)
        std::erase_if(out.found,
                      [&](const Placement& placement) { return placement.allocation.device.name != device->name; });
    if (!out.found.empty()) return out;
    if (out.misses.empty()) out.misses.push_back(fmt::format("partition {} has no {}", options.partition, options.gpu));
    return invalid_argument(fmt::format("no nodes for {} GPUs: {}", gpus->gpus, fmt::join(out.misses, "; ")));
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
    auto candidates = candidates_on(*workload, placements->found, site);
    if (!candidates) return candidates.error();
    const auto best = static_cast<std::size_t>(choose_candidate(*candidates, placements->found, config.ranking));

    Prediction out;
    out.placement = placements->found[best];
    out.candidate = std::move((*candidates)[best]);
    out.largest_micro_batch = *largest_micro_batch(*workload, out.placement.allocation);
    out.origin = {site.model->by(), site.model->weights_id()};
    out.assumed = workload->assumed;
    out.assumed.insert(out.assumed.end(), out.placement.assumed.begin(), out.placement.assumed.end());
    out.warnings = workload->warnings;
    if (options.gpus == 0)
        out.assumed.push_back(fmt::format("{} GPU{} (not stated)", out.candidate.allocation.world_size(),
                                          out.candidate.allocation.world_size() == 1 ? "" : "s"));
    if (!out.candidate.job) out.warnings.push_back(missing_duration(*workload) + remedy_here(*workload));
    if (!out.candidate.reason.empty()) out.warnings.push_back(out.candidate.reason);
    if (const std::string lack = missing_unit(out.placement.allocation.device, workload->training.precision);
        !lack.empty())
        out.warnings.push_back(lack);
    if (const std::size_t count = workload->training.measured.size(); count > 0) {
        const auto plain = estimate_steps({{&*workload, out.placement.allocation}}, *site.model, *site.steps);
        if (!plain) return plain.error();
        out.anchored = fmt::format("{} declared step{}: the forecast is multiplied by {:.3f}", count,
                                   count == 1 ? "" : "s", out.candidate.step.step_s / plain->front().step_s);
    }
    out.least_certain = least_certain_layers(out.candidate.step.layers);
    out.workload = std::move(*workload);
    return out;
}

}  // namespace dlcast
