// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "predictor/base/text.h"

namespace dlcast {
namespace {

constexpr std::size_t most_partitions = 64;  // of a user's list; each costs a forecast under slurmctld's locks

bool contains(const std::vector<std::string>& list, const std::string& name) {
    return std::any_of(list.begin(), list.end(),
                       [&](const std::string& item) { return to_lower(item) == to_lower(name); });
}

// Why a job should not be sent to this partition unasked; empty: nothing speaks against it.
std::string closed_to(const Partition& partition, const SubmitRequest& request) {
    if (!partition.up) return "is down";
    if (!partition.allow_accounts.empty() && !contains(partition.allow_accounts, request.account))
        return "admits other accounts only";
    if (contains(partition.deny_accounts, request.account)) return "denies the account";
    if (!partition.allow_qos.empty() && !contains(partition.allow_qos, request.qos)) return "admits other QOS only";
    if (contains(partition.deny_qos, request.qos)) return "denies the QOS";
    if (!partition.allow_groups.empty()) return "admits certain groups only";
    return "";
}

// "GRES/gpu=2.0" of "CPU=1.0,Mem=0.25G,GRES/gpu=2.0"; 1 where it is not set.
double billing_per_gpu(const std::string& weights) {
    for (const std::string& part : split(weights, ',')) {
        const std::string item = to_lower(trim(part));
        const auto equals = item.find('=');
        if (equals == std::string::npos || item.substr(0, equals) != "gres/gpu") continue;
        const auto number = parse_number(std::string_view(item).substr(equals + 1));
        if (number && *number > 0) return *number;
    }
    return 1.0;
}

void place_in(const Cluster& cluster, const Partition& partition, const DeviceCatalog& catalog, const SiteConfig& site,
              const SubmitRequest& request, const GpuRequest& gpus, Placements& out) {
    std::vector<std::string> why;
    bool any = false;
    for (const NodeGroup& group : partition.groups) {
        if (group.gpu.empty() || group.gpus_per_node <= 0) continue;
        if (!gpus.type.empty() && to_lower(gpus.type) != to_lower(group.gpu)) continue;
        if (!satisfies(request.features, group.features)) {
            why.push_back(fmt::format("its {} nodes lack {}", group.gpu, request.features));
            continue;
        }
        const int nodes = partition.max_nodes > 0 ? std::min(group.nodes, partition.max_nodes) : group.nodes;
        const auto count = place_gpus(gpus, group.gpus_per_node, nodes);
        if (!count) {
            why.push_back(count.error().message);
            continue;
        }
        Placement placement;
        auto device = catalog.find_or_typical(group.gpu, placement.assumed);
        if (!device) {
            why.push_back(device.error().message);
            continue;
        }
        placement.gres = group.gpu;
        placement.max_time_min = cluster.max_time_min(partition, request.qos);
        placement.billing_per_gpu = billing_per_gpu(partition.tres_billing_weights);
        placement.allocation.partition = partition.name;
        placement.allocation.device = std::move(*device);
        placement.allocation.nodes = count->nodes;
        placement.allocation.gpus_per_node = count->gpus_per_node;
        set_links(placement.allocation, site);
        out.found.push_back(std::move(placement));
        any = true;
    }
    if (any) return;
    if (why.empty()) why.push_back(gpus.type.empty() ? "has no GPUs" : fmt::format("has no {}", gpus.type));
    out.misses.push_back(fmt::format("partition {}: {}", partition.name, fmt::join(why, ", ")));
}

}  // namespace

bool satisfies(const std::string& constraint, const std::vector<std::string>& features) {
    if (trim(constraint).empty()) return true;
    for (const std::string& alternative : split(constraint, '|')) {
        bool all = true;
        std::string text = alternative;
        std::replace(text.begin(), text.end(), '&', ',');
        for (const std::string& part : split(text, ',')) {
            std::string name(trim(part));
            std::erase_if(name, [](char c) { return c == '[' || c == ']' || c == '(' || c == ')'; });
            name = name.substr(0, name.find('*'));  // "gpu*2": two nodes of it
            all = all && (name.empty() || contains(features, name));
        }
        if (all) return true;
    }
    return false;
}

Result<NodeCount> place_gpus(const GpuRequest& gpus, int gpus_per_node, int nodes) {
    if (gpus_per_node < 1) return invalid_argument("its nodes have no GPUs");
    const auto has = fmt::format("it has {} nodes of {} GPUs", nodes, gpus_per_node);
    if (gpus.nodes > 0) {
        if (gpus.gpus_per_node > gpus_per_node || gpus.nodes > nodes)
            return invalid_argument(
                fmt::format("{} nodes of {} GPUs are asked for, {}", gpus.nodes, gpus.gpus_per_node, has));
        return NodeCount{gpus.nodes, gpus.gpus_per_node};
    }
    for (int n = (gpus.gpus + gpus_per_node - 1) / gpus_per_node; n <= std::min(nodes, gpus.gpus); ++n)
        if (gpus.gpus % n == 0) return NodeCount{n, gpus.gpus / n};
    return invalid_argument(fmt::format("{} GPUs are asked for, {}", gpus.gpus, has));
}

std::string missing_unit(const Device& device, Precision precision) {
    const bool lacks = (precision == Precision::bf16 && device.bf16_flops_per_s <= 0) ||
                       (precision == Precision::fp8 && device.fp8_flops_per_s <= 0) ||
                       (precision == Precision::tf32 && device.tf32_flops_per_s <= 0);
    return lacks ? fmt::format("{} has no {} units; the forecast takes the next wider precision it has", device.name,
                               to_string(precision))
                 : "";
}

std::string rounded_batch(const Training& training, double samples_per_step) {
    const auto global = static_cast<double>(training.global_batch);
    if (training.global_batch <= 0 || samples_per_step == global) return "";
    return fmt::format("a global batch of {} does not divide evenly over the GPUs; the forecast is for {:.0f} samples",
                       training.global_batch, samples_per_step);
}

void set_links(Allocation& allocation, const SiteConfig& site) {
    allocation.intra_node = intra_node_link(allocation.device);
    allocation.inter_node = {site.inter_node_latency_s,
                             site.inter_node_bandwidth_Bps / std::max(1, allocation.gpus_per_node)};
}

Placements find_placements(const Cluster& cluster, const DeviceCatalog& catalog, const SiteConfig& site,
                           const SubmitRequest& request, const GpuRequest& gpus) {
    Placements out;
    if (trim(request.partition).empty()) {
        for (const Partition& partition : cluster.partitions) {
            const std::string closed = closed_to(partition, request);
            if (closed.empty())
                place_in(cluster, partition, catalog, site, request, gpus, out);
            else
                out.misses.push_back(fmt::format("partition {}: {}", partition.name, closed));
        }
        return out;
    }
    std::vector<std::string> names = split(request.partition, ',');
    std::set<std::string> seen;
    std::erase_if(names, [&seen](const std::string& name) { return !seen.insert(name).second; });
    if (names.size() > most_partitions) {
        out.misses.push_back(fmt::format("{} partitions are named; name {} at most", names.size(), most_partitions));
        return out;
    }
    for (const std::string& name : names) {
        if (const Partition* partition = cluster.find(trim(name)))
            place_in(cluster, *partition, catalog, site, request, gpus, out);
        else
            out.misses.push_back(fmt::format("partition {}: not in the cluster file; run dlcast sync", trim(name)));
    }
    return out;
}

}  // namespace dlcast
