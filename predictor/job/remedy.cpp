// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/remedy.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "predictor/step/memory.h"

namespace dlcast {

std::string time_remedy(const Workload& workload, const JobForecast& job, const SiteConfig& site, std::int64_t cap_min,
                        const char* unit) {
    const double all_s = job.quantile_s(site.quantile) - job.startup_s;
    const double held_s = static_cast<double>(cap_min) * 60 - job.startup_s;
    std::string out = fmt::format("take more {}s", unit);
    if (held_s <= 0 || all_s <= 0) return out;
    const double share = held_s / all_s;
    if (share < 1 && share > 1e-4)
        out += fmt::format(", or chain {:.0f} jobs that resume from checkpoints", std::ceil(1 / share));
    const auto train = [&](double count, const char* what) {
        out += fmt::format(", or train {:.0f} {}{}", std::floor(count), what, std::floor(count) == 1 ? "" : "s");
    };
    if (workload.training.epochs && *workload.training.epochs * share >= 1)
        train(*workload.training.epochs * share, "epoch");
    else if (workload.training.steps && static_cast<double>(*workload.training.steps) * share >= 1)
        train(static_cast<double>(*workload.training.steps) * share, "step");
    return out;
}

std::string memory_remedy(const Workload& workload, const StepEstimate& step, const Allocation& allocation,
                          const char* unit) {
    const Training& training = workload.training;
    const Parallel& p = training.parallel;
    const bool is_sharded = p.zero == 3 || p.fsdp == "full" || p.fsdp == "hybrid";
    const double without_activations = step.memory.total_bytes() - step.memory.activations_bytes;
    std::vector<std::string> out;
    const auto largest = largest_micro_batch(workload, allocation);
    if (step.micro_batch > 1 && largest && *largest > 0) out.emplace_back("lower batch_size");
    if (allocation.world_size() > p.tp * p.pp && !is_sharded) out.emplace_back("shard with zero or fsdp");
    if (training.activation_checkpointing != "full" && without_activations < allocation.device.memory_bytes)
        out.emplace_back("checkpoint activations");
    if (out.empty())
        return fmt::format("take more {}s{}, or {}s with more memory", unit,
                           is_sharded ? "" : " and shard with zero or fsdp", unit);
    if (out.size() == 1) return out.front();
    return fmt::format("{}{} or {}", fmt::join(out.begin(), out.end() - 1, ", "), out.size() > 2 ? "," : "",
                       out.back());
}

}  // namespace dlcast
