// SPDX-License-Identifier: GPL-2.0-or-later
// Where a job could run: the partitions that have its GPUs, with the nodes it would take there.
#pragma once

#include <string>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/device/catalog.h"
#include "predictor/device/cluster.h"
#include "predictor/device/cluster_limits.h"
#include "predictor/job/forecaster.h"
#include "predictor/job/gpu_request.h"

namespace dlcast {

struct Placement {
    Allocation allocation;
    std::string gres;                  // the GPU as the site writes it (a100)
    std::vector<std::string> assumed;  // what an ambiguous GPU name was taken for, nodes and network nobody stated
    TimeCap cap;                       // the limit that binds the job there
    double billing_per_gpu = 1.0;      // the partition's TRESBillingWeights for gres/gpu, of its type if stated
    bool on_cpu = false;               // the device is a node's CPU
};

/// What computes there: "GPU", or "node" of a node's CPU; "device" of CPUs of which a node has several.
inline const char* unit_of(const Placement& placement) {
    if (!placement.on_cpu) return "GPU";
    return placement.allocation.gpus_per_node == 1 ? "node" : "device";
}

/// Of a user's list (-p); each costs a forecast under slurmctld's locks.
constexpr std::size_t most_partitions = 64;

/// One placement for each partition and kind of node that can hold the request; `misses` says why the others cannot.
/// The user's list (-p) is taken as it stands; without one every partition counts that is up and admits the job. Whole
/// nodes without a count of GPUs, and CPUs, are looked for in the default partition alone, as Slurm does.
struct Placements {
    std::vector<Placement> found;
    std::vector<std::string> misses;
};
Placements find_placements(const Cluster& cluster, const DeviceCatalog& catalog, const SiteConfig& site,
                           const SubmitRequest& request, const GpuRequest& gpus);

/// "8 nodes of 4 GPUs", "1 node of 1 GPU".
std::string nodes_text(int nodes, int gpus_per_node);

/// Nodes x GPUs per node of a request on nodes with `gpus_per_node` GPUs, where there are `nodes` of them; as few nodes
/// as hold them evenly. GPUs that no allowed number of nodes holds evenly (7 on 2 nodes) are spread over more nodes,
/// `uneven`: the same GPUs, over a slower network. Error: it does not fit.
struct NodeCount {
    int nodes = 1, gpus_per_node = 1;
    bool uneven = false;
};
Result<NodeCount> place_gpus(const GpuRequest& gpus, int gpus_per_node, int nodes);

/// Says where the device computes this precision on other units than its name promises; empty: it has them.
std::string missing_unit(const Device& device, Precision precision);

/// Links of an allocation: the device's own inside a node; between nodes the site's network, or the usual one of nodes
/// with such GPUs, shared by the node's GPUs.
void set_links(Allocation& allocation, const SiteConfig& site);
/// Sets the links and, where there are several nodes, notes the network among what was assumed.
void set_links(Placement& placement, const SiteConfig& site);

}  // namespace dlcast
