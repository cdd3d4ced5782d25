// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/step_fabric.h"

#include <algorithm>

#include "predictor/device/usual_node.h"

namespace dlcast {
namespace {

// A message's start-up on InfiniBand is about 5 us, on RoCE 7; sockets take tens.
constexpr double slowest_verbs_s = 6e-6, slowest_rdma_s = 15e-6;
constexpr double slowest_nvlink_Bps = 60e9, pcie_attained = 0.75, nvlink_attained = 0.8;  // see links.cpp

Network network_by_latency(double latency_s) {
    if (latency_s <= slowest_verbs_s) return Network::infiniband;
    return latency_s <= slowest_rdma_s ? Network::roce : Network::tcp;
}

}  // namespace

Fabric fabric_of(const Allocation& allocation) {
    Fabric fabric = fabric_of(allocation.device);
    const double stated_Bps = allocation.intra_node.bandwidth_Bps;
    if (stated_Bps != intra_node_link(allocation.device).bandwidth_Bps) {
        const bool nvlink = stated_Bps >= slowest_nvlink_Bps;
        fabric.node_GBps = stated_Bps / 1e9 / (nvlink ? nvlink_attained : pcie_attained);
        fabric.node_link =
            LinkCatalog{}.node_link(nvlink ? "nvl" : "pcie", fabric.node_GBps, fabric.node_link != NodeLink::host);
    }
    const Link& between = allocation.inter_node;
    fabric.network = between.kind.empty() ? network_by_latency(between.latency_s) : network_of(between.kind);
    fabric.network_GBps = between.bandwidth_Bps / network_attained * allocation.gpus_per_node / 1e9;
    fabric.nics_per_node = std::max(1, allocation.gpus_per_node);
    return fabric;
}

Fabric fabric_of(const Group& group, const Fabric& node) {
    Fabric out = node;
    // All groups of a node exchange at once: each has its ranks' share of the network.
    const double share = static_cast<double>(group.ranks_per_node) / std::max(1, node.nics_per_node);
    out.network_GBps *= share;
    out.nics_per_node = group.ranks_per_node;
    return out;
}

}  // namespace dlcast
