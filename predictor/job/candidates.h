// SPDX-License-Identifier: GPL-2.0-or-later
// Where a job could run: the partitions that have its GPUs, with the nodes it would take there.
#pragma once

#include <string>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/device/catalog.h"
#include "predictor/device/cluster.h"
#include "predictor/job/forecaster.h"
#include "predictor/job/gpu_request.h"

namespace dlcast {

struct Placement {
    Allocation allocation;
    std::string gres;                  // the GPU as the site writes it (a100)
    std::vector<std::string> assumed;  // what an ambiguous GPU name was taken for, nodes and network nobody stated
    std::int64_t max_time_min = -1;    // of the partition, its QOS and the job's
    double billing_per_gpu = 1.0;      // the partition's TRESBillingWeights for gres/gpu
};

/// One placement for each partition and kind of node that can hold the request; `misses` says why the others cannot.
/// The user's list (-p) is taken as it stands; without one every partition counts that is up and open to the job as far
/// as is known here: one that admits certain accounts, QOS or groups only is left out unless the job names one of them.
struct Placements {
    std::vector<Placement> found;
    std::vector<std::string> misses;
};
Placements find_placements(const Cluster& cluster, const DeviceCatalog& catalog, const SiteConfig& site,
                           const SubmitRequest& request, const GpuRequest& gpus);

/// "8 nodes of 4 GPUs", "1 node of 1 GPU".
std::string nodes_text(int nodes, int gpus_per_node);

/// Nodes x GPUs per node of a request on nodes with `gpus_per_node` GPUs; as few nodes as hold them evenly. Error: it
/// does not fit.
struct NodeCount {
    int nodes = 1, gpus_per_node = 1;
};
Result<NodeCount> place_gpus(const GpuRequest& gpus, int gpus_per_node, int nodes);

/// Does a node with `features` satisfy --constraint? `a&b`, `a|b`; counts and brackets are passed over.
bool satisfies(const std::string& constraint, const std::vector<std::string>& features);

/// Says where the device computes this precision on other units than its name promises; empty: it has them.
std::string missing_unit(const Device& device, Precision precision);

/// Links of an allocation: the device's own inside a node; between nodes the site's network, or the usual one of nodes
/// with such GPUs, shared by the node's GPUs.
void set_links(Allocation& allocation, const SiteConfig& site);
/// Sets the links and, where there are several nodes, notes the network among what was assumed.
void set_links(Placement& placement, const SiteConfig& site);

}  // namespace dlcast
