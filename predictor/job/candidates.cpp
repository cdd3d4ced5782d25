// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "predictor/base/text.h"
#include "predictor/device/usual_node.h"

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
        std::string variant;
        auto device = catalog.find_or_typical(group.gpu, variant);
        if (!device) {
            why.push_back(device.error().message);
            continue;
        }
        if (!variant.empty()) placement.assumed.push_back(variant);
        if (gpus.nodes == 0 && count->nodes > 1)
            placement.assumed.push_back(nodes_text(count->nodes, count->gpus_per_node) + " (nodes not stated)");
        placement.gres = group.gpu;
        placement.max_time_min = cluster.max_time_min(partition, request.qos);
        placement.billing_per_gpu = billing_per_gpu(partition.tres_billing_weights);
        placement.allocation.partition = partition.name;
        placement.allocation.device = std::move(*device);
        placement.allocation.nodes = count->nodes;
        placement.allocation.gpus_per_node = count->gpus_per_node;
        set_links(placement, site);
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

std::string nodes_text(int nodes, int gpus_per_node) {
    return fmt::format("{} node{} of {} GPU{}", nodes, nodes == 1 ? "" : "s", gpus_per_node,
                       gpus_per_node == 1 ? "" : "s");
}

Result<NodeCount> place_gpus(const GpuRequest& gpus, int gpus_per_node, int nodes) {
    if (gpus_per_node < 1) return invalid_argument("its nodes have no GPUs");
    const auto has = "it has " + nodes_text(nodes, gpus_per_node);
    if (gpus.nodes > 0) {
        if (gpus.gpus_per_node > gpus_per_node || gpus.nodes > nodes) {
            // The same GPUs on other nodes are the remedy, where they are there.
            const auto other =
                place_gpus({.type = "", .gpus = gpus.gpus, .nodes = 0, .gpus_per_node = 0}, gpus_per_node, nodes);
            return invalid_argument(fmt::format(
                "{} {} asked for, {}{}", nodes_text(gpus.nodes, gpus.gpus_per_node), gpus.nodes == 1 ? "is" : "are",
                has,
                other ? fmt::format("; ask for --nodes={} with {} GPUs each", other->nodes, other->gpus_per_node)
                      : ""));
        }
        return NodeCount{gpus.nodes, gpus.gpus_per_node};
    }
    for (int n = (gpus.gpus + gpus_per_node - 1) / gpus_per_node; n <= std::min(nodes, gpus.gpus); ++n)
        if (gpus.gpus % n == 0) return NodeCount{n, gpus.gpus / n};
    return invalid_argument(fmt::format("{} GPU{} asked for, {}", gpus.gpus, gpus.gpus == 1 ? " is" : "s are", has));
}

std::string missing_unit(const Device& device, Precision precision) {
    const bool lacks = (precision == Precision::bf16 && device.bf16_flops_per_s <= 0) ||
                       (precision == Precision::fp8 && device.fp8_flops_per_s <= 0) ||
                       (precision == Precision::tf32 && device.tf32_flops_per_s <= 0);
    return lacks ? fmt::format("{} has no {} units; the forecast takes the next wider precision it has", device.name,
                               to_string(precision))
                 : "";
}

void set_links(Allocation& allocation, const SiteConfig& site) {
    allocation.intra_node = intra_node_link(allocation.device);
    const int gpus = std::max(1, allocation.gpus_per_node);
    const double node_Bps = site.inter_node_bandwidth_Bps > 0 ? site.inter_node_bandwidth_Bps
                                                              : usual_network(allocation.device).node_Bps(gpus);
    allocation.inter_node = {site.inter_node_latency_s, network_attained * node_Bps / gpus};
}

void set_links(Placement& placement, const SiteConfig& site) {
    set_links(placement.allocation, site);
    if (placement.allocation.nodes < 2) return;
    const auto Gbps = [](double Bps) { return 8 * Bps / 1e9; };
    const NodeNetwork usual = usual_network(placement.allocation.device);
    const double node_Bps = usual.node_Bps(placement.allocation.gpus_per_node);
    std::string origin = site.network_source;
    if (site.inter_node_bandwidth_Bps <= 0)
        origin = usual.system.empty() ? "not stated"
                                      : fmt::format("not stated; {} has {} x {:g} Gb/s for {} GPUs", usual.system,
                                                    usual.adapters, usual.adapter_Gbps, usual.gpus);
    placement.assumed.push_back(
        fmt::format("network {:g} Gb/s a node ({})",
                    Gbps(site.inter_node_bandwidth_Bps > 0 ? site.inter_node_bandwidth_Bps : node_Bps), origin));
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
