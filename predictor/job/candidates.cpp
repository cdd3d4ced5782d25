// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "predictor/base/text.h"
#include "predictor/device/usual_node.h"
#include "predictor/job/constraint.h"

namespace dlcast {
namespace {

// "GRES/gpu=2.0" or, before it, "GRES/gpu:a100=3.0" of "CPU=1.0,Mem=0.25G,GRES/gpu=2.0"; 1 where neither is set.
double billing_per_gpu(const std::string& weights, const std::string& type) {
    double out = 1.0;
    const std::string typed = "gres/gpu:" + to_lower(type);
    for (const std::string& part : split(weights, ',')) {
        const std::string item = to_lower(trim(part));
        const auto equals = item.find('=');
        if (equals == std::string::npos) continue;
        const std::string name = item.substr(0, equals);
        const auto number = parse_number(std::string_view(item).substr(equals + 1));
        if (!number || *number <= 0) continue;
        if (name == typed) return *number;
        if (name == "gres/gpu") out = *number;
    }
    return out;
}

/// What is the same for all partitions of one search.
struct Search {
    const Cluster& cluster;
    const DeviceCatalog& catalog;
    const SiteConfig& site;
    const SubmitRequest& request;
    const GpuRequest& gpus;
    Submitter who;
    Placements out;
};

// "its a100 nodes"
std::string nodes_of(const NodeGroup& group) {
    return group.gpu.empty() ? "its nodes" : fmt::format("its {} nodes", group.gpu);
}

// Why the CPUs or the memory of such nodes do not do; empty: they may. Slurm would refuse the job in this partition.
std::string lacks_host(const SubmitRequest& request, const NodeGroup& group, int nodes) {
    const std::int64_t per_task = std::max<std::int64_t>(1, request.cpus_per_task);
    const std::int64_t a_node = std::max({per_task, request.min_cpus_per_node, request.ntasks_per_node * per_task});
    const std::int64_t most_nodes = request.max_nodes > 0 ? std::min<std::int64_t>(request.max_nodes, nodes) : nodes;
    if (group.cpus_per_node > 0 && a_node > group.cpus_per_node)
        return fmt::format("{} CPUs a node asked for, {} have {}", a_node, nodes_of(group), group.cpus_per_node);
    if (group.cpus_per_node > 0 && request.min_cpus > most_nodes * group.cpus_per_node)
        return fmt::format("{} CPUs asked for, {} of {} have {}", request.min_cpus, most_nodes, nodes_of(group),
                           most_nodes * group.cpus_per_node);
    const double MiB = std::max(static_cast<double>(request.memory_per_node_MiB),
                                static_cast<double>(request.memory_per_cpu_MiB) * static_cast<double>(a_node));
    if (group.memory_bytes > 0 && MiB * (1 << 20) > group.memory_bytes)
        return fmt::format("{:.0f} MiB a node asked for, {} have {:.0f}", MiB, nodes_of(group),
                           group.memory_bytes / (1 << 20));
    return "";
}

// Why a group of nodes does not do; empty: its placement is added.
std::string place_on(Search& search, const Partition& partition, const NodeGroup& group) {
    const GpuRequest& gpus = search.gpus;
    if (!satisfies(search.request.features, group.features))
        return fmt::format("{} lack {}", nodes_of(group), search.request.features);
    const int nodes = partition.max_nodes > 0 ? std::min(group.nodes, partition.max_nodes) : group.nodes;
    if (const std::string lack = lacks_host(search.request, group, nodes); !lack.empty()) return lack;
    const auto count = place_gpus(gpus, gpus.on_cpu ? 1 : group.gpus_per_node, nodes);
    if (!count && gpus.on_cpu)
        return fmt::format("{} {} asked for, it has {}", gpus.nodes, gpus.nodes == 1 ? "node is" : "nodes are", nodes);
    if (!count) return count.error().message;
    Placement placement;
    placement.gres = gpus.on_cpu ? cpu_device : group.gpu;
    std::string variant;
    auto device = search.catalog.find_or_typical(placement.gres, variant);
    if (!device) return device.error().message;
    placement.assumed = gpus.assumed;
    if (!variant.empty()) placement.assumed.push_back(variant);
    if (count->uneven)
        placement.assumed.push_back(fmt::format(
            "{} GPUs {} forecast as {}", gpus.gpus,
            gpus.nodes > 0 ? fmt::format("on {} nodes", gpus.nodes) : "that no number of its nodes holds evenly",
            nodes_text(count->nodes, count->gpus_per_node)));
    else if (gpus.nodes == 0 && count->nodes > 1)
        placement.assumed.push_back(nodes_text(count->nodes, count->gpus_per_node) + " (nodes not stated)");
    if (gpus.whole_nodes)
        placement.assumed.push_back(nodes_text(count->nodes, count->gpus_per_node) + " (--exclusive)");
    placement.cap = time_cap(search.cluster, partition, search.who);
    placement.billing_per_gpu = billing_per_gpu(partition.tres_billing_weights, group.gpu);
    placement.on_cpu = gpus.on_cpu;
    placement.allocation.partition = partition.name;
    placement.allocation.device = std::move(*device);
    // A CPU computes in its node's memory, not in that of the host which was measured.
    if (gpus.on_cpu && group.memory_bytes > 0) placement.allocation.device.memory_bytes = group.memory_bytes;
    placement.allocation.nodes = count->nodes;
    placement.allocation.gpus_per_node = count->gpus_per_node;
    set_links(placement, search.site);
    search.out.found.push_back(std::move(placement));
    return "";
}

void place_in(Search& search, const Partition& partition) {
    const GpuRequest& gpus = search.gpus;
    std::vector<std::string> why;
    bool any = false;
    for (const NodeGroup& group : partition.groups) {
        const bool has_gpus = !group.gpu.empty() && group.gpus_per_node > 0;
        if (!has_gpus && !gpus.on_cpu) continue;
        if (!gpus.type.empty() && to_lower(gpus.type) != to_lower(group.gpu)) continue;
        const std::string fault = place_on(search, partition, group);
        if (fault.empty())
            any = true;
        else
            why.push_back(fault);
    }
    if (any) return;
    if (why.empty()) why.push_back(gpus.type.empty() ? "has no GPUs" : fmt::format("has no {}", gpus.type));
    search.out.misses.push_back(fmt::format("partition {}: {}", partition.name, fmt::join(why, ", ")));
}

}  // namespace

std::string nodes_text(int nodes, int gpus_per_node) {
    return fmt::format("{} node{} of {} GPU{}", nodes, nodes == 1 ? "" : "s", gpus_per_node,
                       gpus_per_node == 1 ? "" : "s");
}

Result<NodeCount> place_gpus(const GpuRequest& gpus, int gpus_per_node, int nodes) {
    if (gpus_per_node < 1) return invalid_argument("its nodes have no GPUs");
    const auto has = "it has " + nodes_text(nodes, gpus_per_node);
    if (gpus.whole_nodes) {
        if (gpus.nodes <= nodes) return NodeCount{gpus.nodes, gpus_per_node};
        return invalid_argument(
            fmt::format("{} whole {} asked for, {}", gpus.nodes, gpus.nodes == 1 ? "node is" : "nodes are", has));
    }
    if (gpus.nodes > 0 && gpus.gpus_per_node > 0) {
        if (gpus.gpus_per_node <= gpus_per_node && gpus.nodes <= nodes)
            return NodeCount{gpus.nodes, gpus.gpus_per_node};
        // The same GPUs on other nodes are the remedy, where they are there.
        GpuRequest open;
        open.gpus = gpus.gpus;
        const auto other = place_gpus(open, gpus_per_node, nodes);
        return invalid_argument(fmt::format(
            "{} {} asked for, {}{}", nodes_text(gpus.nodes, gpus.gpus_per_node), gpus.nodes == 1 ? "is" : "are", has,
            other && !other->uneven
                ? fmt::format("; ask for --nodes={} with {} GPUs each", other->nodes, other->gpus_per_node)
                : ""));
    }
    const int least = std::max((gpus.gpus + gpus_per_node - 1) / gpus_per_node, std::max(1, gpus.nodes));
    const int most = std::min({nodes, gpus.gpus, gpus.max_nodes > 0 ? gpus.max_nodes : nodes});
    for (int n = least; n <= most; ++n)
        if (gpus.gpus % n == 0) return NodeCount{n, gpus.gpus / n};
    if (least > most)
        return invalid_argument(
            fmt::format("{} GPU{} asked for, {}", gpus.gpus, gpus.gpus == 1 ? " is" : "s are", has));
    int n = most;
    while (gpus.gpus % n != 0) ++n;
    return NodeCount{n, gpus.gpus / n, true};
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
    Search search{cluster, catalog, site,
                  request, gpus,    submitter_of(cluster, request.user_id, request.account, request.qos),
                  {}};
    Placements& out = search.out;
    const Partition* const usual = gpus.whole_nodes || gpus.on_cpu ? cluster.default_partition() : nullptr;
    if (trim(request.partition).empty()) {
        for (const Partition& partition : cluster.partitions) {
            if (usual && &partition != usual) continue;
            const std::string closed = closed_to(partition, search.who);
            if (closed.empty())
                place_in(search, partition);
            else
                out.misses.push_back(fmt::format("partition {}: {}", partition.name, closed));
        }
        return std::move(out);
    }
    std::vector<std::string> names = split(request.partition, ',');
    std::set<std::string> seen;
    std::erase_if(names, [&seen](const std::string& name) { return !seen.insert(name).second; });
    if (names.size() > most_partitions) {
        out.misses.push_back(fmt::format("{} partitions are named; name {} at most", names.size(), most_partitions));
        return std::move(out);
    }
    for (const std::string& name : names) {
        if (const Partition* partition = cluster.find(trim(name)))
            place_in(search, *partition);
        else
            out.misses.push_back(fmt::format("partition {}: not in the cluster file; run dlcast sync", trim(name)));
    }
    return std::move(out);
}

}  // namespace dlcast
