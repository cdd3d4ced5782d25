// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/placements.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "cli/counted.h"
#include "predictor/base/text.h"
#include "predictor/device/usual_node.h"

namespace dlcast {
namespace {

Result<GpuRequest> requested(const PredictOptions& options) {
    if (auto s = check_counts(options); !s) return s.error();
    GpuRequest out{.type = "", .gpus = options.gpus, .nodes = options.nodes, .gpus_per_node = 0};
    if (out.gpus == 0) out.gpus = std::max(1, out.nodes);
    if (out.nodes > 0) out.gpus_per_node = out.gpus / out.nodes;
    return out;
}

// A GPU by name stands on nodes that hold what is asked; of the usual size, where their number is not said.
Placements free_standing(const Device& device, const std::string& assumed, const GpuRequest& gpus,
                         const SiteConfig& site) {
    Placement placement;
    placement.gres = device.name;
    placement.on_cpu = device.vendor == "cpu";
    if (!assumed.empty()) placement.assumed.push_back(assumed);
    placement.allocation.device = device;
    placement.allocation.nodes = gpus.nodes;
    placement.allocation.gpus_per_node = gpus.gpus_per_node;
    if (gpus.nodes == 0) {
        // As many nodes as GPUs hold any count, so this does not fail.
        const NodeCount count = *place_gpus(gpus, usual_gpus_per_node(device), gpus.gpus);
        placement.allocation.nodes = count.nodes;
        placement.allocation.gpus_per_node = count.gpus_per_node;
        if (gpus.gpus > 1 && !placement.on_cpu)
            placement.assumed.push_back(nodes_text(count.nodes, count.gpus_per_node) + " (--nodes not stated)");
    }
    set_links(placement, site);
    return {{placement}, {}};
}

// Each node without GPUs is one device.
GpuRequest on_nodes_alone(int nodes) {
    GpuRequest out;
    out.on_cpu = true;
    out.gpus = out.nodes = out.max_nodes = std::max(1, nodes);
    out.gpus_per_node = 1;
    return out;
}

std::string named(const std::vector<std::string>& partitions) {
    return fmt::format("partition{} {}: {} no GPUs", partitions.size() == 1 ? "" : "s", fmt::join(partitions, ", "),
                       partitions.size() == 1 ? "has" : "have");
}

// Why a partition without GPUs cannot hold what is asked; empty: it can.
std::string no_device(const std::vector<std::string>& partitions, const PredictOptions& options,
                      const SiteConfig& site) {
    if (options.gpus > 0) return named(partitions) + "; a node's CPUs are one device there: --nodes N, without --gpus";
    return missing_cpu(partitions, site);
}

void append(const Placements& from, Placements& to) {
    to.found.insert(to.found.end(), from.found.begin(), from.found.end());
    to.misses.insert(to.misses.end(), from.misses.begin(), from.misses.end());
}

Placements on_partitions(const SitePartitions& partitions, const PredictOptions& options, const GpuRequest& gpus,
                         const PredictSite& site) {
    Placements out;
    std::vector<std::string> without_gpus;
    const bool cpu_will_do = no_device({""}, options, *site.config).empty();
    for (const Partition* partition : partitions.taken) {
        const bool on_cpu = !has_gpus(*partition);
        if (on_cpu && !cpu_will_do) {
            without_gpus.push_back(partition->name);
            continue;
        }
        SubmitRequest request;
        request.partition = partition->name;
        request.user_id = site.uid;
        Placements here = find_placements(*site.cluster, *site.catalog, *site.config, request,
                                          on_cpu ? on_nodes_alone(options.nodes) : gpus);
        // Kinds of nodes are all the same device.
        if (on_cpu && here.found.size() > 1) here.found.erase(here.found.begin() + 1, here.found.end());
        append(here, out);
    }
    if (!without_gpus.empty()) out.misses.push_back(no_device(without_gpus, options, *site.config));
    out.misses.insert(out.misses.end(), partitions.left_out.begin(), partitions.left_out.end());
    return out;
}

const char* in_words(const std::vector<Placement>& places, const char* gpus, const char* cpus, const char* both) {
    const auto on_cpu = [](const Placement& place) { return place.on_cpu; };
    if (std::none_of(places.begin(), places.end(), on_cpu)) return gpus;
    return std::all_of(places.begin(), places.end(), on_cpu) ? cpus : both;
}

}  // namespace

const char* hours_name(const std::vector<Placement>& places) {
    return in_words(places, "GPU-hours", "node-hours", "GPU- or node-hours");
}

const char* devices_name(const std::vector<Placement>& places) {
    return in_words(places, "GPUs", "CPUs", "GPUs or CPUs");
}

void set_hours(Value& entry, const Placement& place, double hours) {
    entry.set("gpu_hours", place.on_cpu ? Value() : Value(hours));
    entry.set("node_hours", place.on_cpu ? Value(hours) : Value());
}

bool has_gpus(const Partition& partition) {
    return std::any_of(partition.groups.begin(), partition.groups.end(),
                       [](const NodeGroup& group) { return !group.gpu.empty() && group.gpus_per_node > 0; });
}

int most_devices(const Partition& partition) {
    int most = 0;
    const bool on_cpu = !has_gpus(partition);
    for (const NodeGroup& group : partition.groups) {
        const int nodes = partition.max_nodes > 0 ? std::min(group.nodes, partition.max_nodes) : group.nodes;
        most = std::max(most, nodes * (on_cpu ? 1 : group.gpus_per_node));
    }
    return most;
}

std::vector<std::string> distinct_gpus(const std::vector<std::string>& names, const DeviceCatalog& catalog) {
    std::vector<std::string> out;
    std::set<std::string> seen;
    for (const std::string& name : names) {
        std::string ignored;
        const auto device = catalog.find_or_typical(name, ignored);
        if (seen.insert(device ? device->name : name).second) out.push_back(name);
    }
    return out;
}

std::string missing_cpu(const std::vector<std::string>& partitions, const SiteConfig& site) {
    if (site.gpu_names.contains(cpu_device)) return "";
    return named(partitions) +
           ", and dlcast.toml does not say which device a node's CPUs are; measure them with dlcast-profile, then add "
           "[gpu_names] cpu = \"NAME\"";
}

Result<SitePartitions> site_partitions(const std::string& list, const PredictSite& site) {
    if (!site.cluster)
        return list.empty()
                   ? invalid_argument(
                         "no GPU named; add --gpu NAME (as nvidia-smi or gres.conf writes it), or --partition with a "
                         "cluster file (dlcast sync)")
                   : invalid_argument(fmt::format(
                         "partition {}: there is no cluster file; write one with dlcast sync, or name a GPU with --gpu",
                         list));
    SitePartitions out;
    if (trim(list).empty()) {
        const Submitter who = submitter_of(*site.cluster, site.uid, "", "");
        for (const Partition& partition : site.cluster->partitions) {
            const std::string closed = closed_to(partition, who);
            if (closed.empty())
                out.taken.push_back(&partition);
            else
                out.left_out.push_back(fmt::format("partition {}: {}", partition.name, closed));
        }
        return out;
    }
    const auto names = split(list, ',');
    if (std::set<std::string>(names.begin(), names.end()).size() > most_partitions)
        return invalid_argument(fmt::format("--partition names {} partitions; name {} at most, as slurmctld takes them",
                                            names.size(), most_partitions));
    for (const std::string& text : names) {
        const std::string name{trim(text)};
        const Partition* partition = site.cluster->find(name);
        if (!partition) {
            std::vector<std::string> known;
            for (const Partition& p : site.cluster->partitions) known.push_back(p.name);
            const std::string near = nearest_name(name, known);
            return not_found(
                fmt::format("partition {}: not in the cluster file; {}", name,
                            near.empty() ? fmt::format("it has {} (dlcast sync writes it anew)", fmt::join(known, ", "))
                                         : fmt::format("did you mean \"{}\"?", near)));
        }
        if (std::find(out.taken.begin(), out.taken.end(), partition) == out.taken.end()) out.taken.push_back(partition);
    }
    return out;
}

std::vector<std::string> named_but_closed(const std::string& list, const PredictSite& site) {
    std::vector<std::string> out;
    if (!site.cluster || trim(list).empty()) return out;
    const auto partitions = site_partitions(list, site);
    if (!partitions) return out;
    const Submitter who = submitter_of(*site.cluster, site.uid, "", "");
    for (const Partition* partition : partitions->taken)
        if (const std::string closed = closed_to(*partition, who); !closed.empty())
            out.push_back(
                fmt::format("partition {}: {}; Slurm may refuse the job or not start it", partition->name, closed));
    return out;
}

Status check_counts(const PredictOptions& options) {
    const int gpus = options.gpus, nodes = options.nodes;
    if (gpus == 0 || nodes == 0 || gpus % nodes == 0) return ok();
    if (gpus < nodes)
        return invalid_argument(fmt::format(
            "--gpus {} is less than --nodes {}; --gpus counts the GPUs of all nodes, so write --gpus {} or a "
            "multiple",
            gpus, nodes, nodes));
    return invalid_argument(
        fmt::format("--gpus {} does not divide evenly over --nodes {}; --gpus counts the GPUs of all nodes, {} or {} "
                    "would do",
                    gpus, nodes, gpus / nodes * nodes, (gpus / nodes + 1) * nodes));
}

Result<Placements> placements_of(const PredictOptions& options, const PredictSite& site) {
    const auto gpus = requested(options);
    if (!gpus) return gpus.error();
    std::optional<Device> device;
    if (!options.gpu.empty()) {
        std::string assumed;
        auto found = site.catalog->find_or_typical(options.gpu, assumed);
        if (!found) return found.error();
        device = std::move(*found);
        if (options.partition.empty()) return free_standing(*device, assumed, *gpus, *site.config);
    }
    const auto partitions = site_partitions(options.partition, site);
    if (!partitions) return partitions.error();
    Placements out = on_partitions(*partitions, options, *gpus, site);
    if (device)
        std::erase_if(out.found,
                      [&](const Placement& placement) { return placement.allocation.device.name != device->name; });
    if (!out.found.empty()) return out;
    if (out.misses.empty()) out.misses.push_back(fmt::format("partition {} has no {}", options.partition, options.gpu));
    const bool any_gpus = std::any_of(partitions->taken.begin(), partitions->taken.end(),
                                      [](const Partition* partition) { return has_gpus(*partition); });
    const std::string why = fmt::format("{}", fmt::join(out.misses, "; "));
    return invalid_argument(any_gpus ? fmt::format("no nodes for {}: {}", counted(gpus->gpus, "GPU"), why) : why);
}

}  // namespace dlcast
