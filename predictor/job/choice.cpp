// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "predictor/base/text.h"
#include "predictor/job/policy.h"
#include "predictor/job/remedy.h"

namespace dlcast {
namespace {

constexpr double bytes_per_GiB = 1 << 30;  // what a card's "80 GB" are

double seconds_of(const Candidate& candidate) { return candidate.job ? candidate.job->p50_s : candidate.step.step_s; }

double rank_value(const Candidate& candidate, const Placement& placement, Ranking ranking) {
    const double seconds = seconds_of(candidate);
    const double cost = seconds * candidate.allocation.world_size() * placement.billing_per_gpu;
    switch (ranking) {
        case Ranking::first:
            return 0.0;
        case Ranking::fastest:
            return seconds;
        case Ranking::cheapest:
            return cost;
        case Ranking::balanced:
            return std::sqrt(seconds * cost);
        case Ranking::slowest:
            return 1.0 / std::max(seconds, 1e-9);
    }
    return seconds;
}

}  // namespace

Candidate make_candidate(const Workload& workload, const StepEstimate& step, const Placement& placement,
                         const SiteConfig& site) {
    Candidate out;
    out.allocation = placement.allocation;
    out.step = step;
    out.job = forecast_job(workload, step, placement.allocation, site.job);
    const double has_bytes = placement.allocation.device.memory_bytes;
    if (has_bytes > 0 && step.memory.total_bytes() > has_bytes) {
        out.fits_memory = false;
        out.reason =
            fmt::format("needs about {:.0f} GiB a {}, {} has {:.0f} GiB; {}", step.memory.total_bytes() / bytes_per_GiB,
                        unit_of(placement), placement.gres, has_bytes / bytes_per_GiB,
                        memory_remedy(workload, step, placement.allocation, unit_of(placement)));
    }
    if (!out.job) return out;
    const Margin* margin =
        site.margins ? site.margins->find(placement.allocation.partition, workload.model.name) : nullptr;
    const TimeLimit limit = choose_time_limit(*out.job, site, placement.cap, margin);
    out.limit_min = limit.minutes;
    out.limit_keeps = limit.keeps;
    out.limit_capped_by = limit.capped_by;
    out.fits_time = limit.fits;
    if (!limit.cap.empty() && out.reason.empty()) {
        const std::string likely = format_duration(out.job->quantile_s(site.quantile));
        out.reason = limit.fits
                         ? fmt::format("the limit is cut to {}, which leaves little margin over {}", limit.cap, likely)
                         : fmt::format("may take {}, longer than {}; {}", likely, limit.cap,
                                       time_remedy(workload, *out.job, site, limit.minutes, unit_of(placement)));
    }
    return out;
}

std::vector<std::size_t> contenders(const std::vector<Candidate>& candidates, const std::vector<Placement>& placements,
                                    Ranking ranking, double factor) {
    std::vector<std::size_t> out;
    const int best = choose_candidate(candidates, placements, ranking);
    if (best < 0) return out;
    const auto ahead = static_cast<std::size_t>(best);
    const double least = rank_value(candidates[ahead], placements[ahead], ranking);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const bool same_place = candidates[i].allocation.partition == candidates[ahead].allocation.partition;
        const bool may_win =
            ranking != Ranking::first && rank_value(candidates[i], placements[i], ranking) <= factor * least;
        if (same_place || may_win) out.push_back(i);
    }
    return out;
}

int choose_candidate(const std::vector<Candidate>& candidates, const std::vector<Placement>& placements,
                     Ranking ranking) {
    std::map<std::string, std::size_t> slowest;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const auto [entry, is_new] = slowest.try_emplace(candidates[i].allocation.partition, i);
        if (!is_new && seconds_of(candidates[i]) > seconds_of(candidates[entry->second])) entry->second = i;
    }
    int best = -1;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        if (slowest[candidates[i].allocation.partition] != i) continue;
        if (best < 0) {
            best = static_cast<int>(i);
            continue;
        }
        const Candidate& held = candidates[static_cast<std::size_t>(best)];
        const bool fits = candidates[i].fits_memory && candidates[i].fits_time;
        const bool held_fits = held.fits_memory && held.fits_time;
        if (fits != held_fits ? fits
                              : rank_value(candidates[i], placements[i], ranking) <
                                    rank_value(held, placements[static_cast<std::size_t>(best)], ranking))
            best = static_cast<int>(i);
    }
    return best;
}

}  // namespace dlcast
