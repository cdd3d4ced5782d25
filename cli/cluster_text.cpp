// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cluster_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/counted.h"
#include "predictor/base/text.h"

namespace dlcast {
namespace {

constexpr std::size_t most_kinds = 64;

std::string limit_text(std::int64_t minutes) {
    return minutes < 0 ? "no time limit" : "up to " + format_slurm_time(minutes * 60);
}

struct Kind {
    std::string text;  // behind the names
    std::vector<std::string> names;
};

std::vector<Kind> kinds_of(const SiteReport& report) {
    std::map<std::string, std::string> gpus;  // lines of each partition
    for (const SiteGpus& g : report.gpus)
        gpus[g.partition] += fmt::format(
            "    {}{} = {}\n", counted(g.group.nodes, "node"),
            g.group.gpus_per_node > 0 ? fmt::format(" x {} {}", g.group.gpus_per_node, g.group.gpu) : "", g.device);
    std::vector<Kind> out;
    std::map<std::string, std::size_t> known;  // by text, in `out`
    for (const Partition& partition : report.cluster.partitions) {
        const std::string text =
            fmt::format("{}{}: {}\n{}", partition.is_default ? " (default)" : "", partition.up ? "" : " (down)",
                        limit_text(partition.max_time_min), gpus[partition.name]);
        const auto [place, is_new] = known.try_emplace(text, out.size());
        if (is_new) out.push_back({text, {}});
        out[place->second].names.push_back(partition.name);
    }
    return out;
}

}  // namespace

std::string cluster_text(const SiteReport& report) {
    const Cluster& cluster = report.cluster;
    if (cluster.partitions.empty()) return "";
    std::string out =
        fmt::format("cluster    {}: {}{}\n", cluster.name, counted(cluster.partitions.size(), "partition"),
                    cluster.slurm_version.empty() ? "" : ", Slurm " + cluster.slurm_version);
    if (!cluster.budgets.empty()) out += fmt::format("  {} of GPU-hours\n", counted(cluster.budgets.size(), "budget"));
    const std::vector<Kind> kinds = kinds_of(report);
    for (std::size_t i = 0; i < std::min(kinds.size(), most_kinds); ++i)
        out += fmt::format("  {}{}", first_of(kinds[i].names), kinds[i].text);
    if (kinds.size() > most_kinds)
        out += fmt::format("  and partitions of {}; --json lists all GPUs\n",
                           counted(kinds.size() - most_kinds, "more kind"));
    return out;
}

}  // namespace dlcast
