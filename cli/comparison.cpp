// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/comparison.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/placements.h"
#include "predictor/job/possible_placements.h"
#include "predictor/model/overrides.h"

namespace dlcast {
namespace {

constexpr double samples_without_duration = 1e6;

// Of each generation one that many sites have.
const std::vector<std::string>& usual_gpus() {
    static const std::vector<std::string> names{
        "T4",    "V100-SXM2-32GB", "A100-SXM4-80GB", "L40S", "H100-SXM5-80GB", "H200-SXM-141GB", "B200-SXM-180GB",
        "MI300X"};
    return names;
}

// Placements of each GPU by name, or of all partitions.
Result<std::vector<Placement>> find_all(const CompareOptions& options, const PredictSite& site, Comparison& out) {
    std::vector<Placement> all;
    std::vector<std::string> names = distinct_gpus(options.gpus, *site.catalog);
    if (names.empty() && !site.cluster) {
        names = usual_gpus();
        out.assumed.push_back(fmt::format("{} GPUs of several generations (no --gpu, no cluster file)", names.size()));
    }
    const bool by_partition = names.empty();
    if (by_partition) names.emplace_back();
    Status first = ok();
    for (const std::string& name : names) {
        PredictOptions one = options.predict;
        one.gpu = name;
        auto found = placements_of(one, site);
        if (!found && !by_partition) return found.error();  // a GPU by name fails by its name alone
        Status status = found ? keep_possible(out.workload, *found) : Status(found.error());
        if (found) {
            out.left_out.insert(out.left_out.end(), found->misses.begin(), found->misses.end());
            for (Placement& placement : found->found) all.push_back(std::move(placement));
        }
        if (!status && first) first = status;
    }
    if (all.empty()) return first ? invalid_argument("no partition holds so many GPUs") : first.error();
    return all;
}

}  // namespace

Result<Comparison> make_comparison(const CompareOptions& options, const PredictSite& site) {
    const auto declaration = read_model_argument(options.predict.model, options.predict.overrides);
    if (!declaration) return declaration.error();
    auto workload = to_workload(*declaration, options.predict.overrides);
    if (!workload) return workload.error();
    Comparison out;
    out.workload = std::move(*workload);
    out.assumed = out.workload.assumed;
    out.warnings = out.workload.warnings;
    const auto placements = find_all(options, site, out);
    if (!placements) return placements.error();
    auto candidates = candidates_on(out.workload, *placements, site);
    if (!candidates) return candidates.error();
    for (std::size_t i = 0; i < placements->size(); ++i) {
        ComparedGpu& gpu = out.gpus.emplace_back();
        gpu.placement = (*placements)[i];
        gpu.candidate = std::move((*candidates)[i]);
        const StepEstimate& step = gpu.candidate.step;
        gpu.samples_per_s = step.samples_per_step / step.step_s;
        gpu.time_s = gpu.candidate.job ? gpu.candidate.job->p50_s : samples_without_duration / gpu.samples_per_s;
        gpu.gpu_hours = gpu.candidate.allocation.world_size() * gpu.time_s / 3600;
        out.has_duration = gpu.candidate.job.has_value();
        for (const std::string& text : gpu.placement.assumed)
            out.assumed.push_back(fmt::format("{}: {}", gpu.placement.gres, text));
        const std::string lack = missing_unit(gpu.candidate.allocation.device, out.workload.training.precision);
        if (!lack.empty()) out.warnings.push_back(lack);
    }
    for (std::string& warning : named_but_closed(options.predict.partition, site))
        out.warnings.push_back(std::move(warning));
    if (!out.has_duration) out.warnings.push_back(missing_duration(out.workload, OptionsOf::dlcast));
    std::stable_sort(out.gpus.begin(), out.gpus.end(), [](const ComparedGpu& a, const ComparedGpu& b) {
        return a.fits() != b.fits() ? a.fits() : a.time_s < b.time_s;
    });
    return out;
}

}  // namespace dlcast
