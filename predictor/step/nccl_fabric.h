// SPDX-License-Identifier: GPL-2.0-or-later
// What a collective runs over, by its physical facts: the links of a node and the network between nodes.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace dlcast {

/// The last three have no entry in NCCL's tuner: they run point to point.
enum class Collective { all_reduce, all_gather, reduce_scatter, broadcast, reduce, scatter, alltoall, sendrecv };
inline constexpr std::array<std::string_view, 8> collective_names{
    "all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "scatter", "alltoall", "sendrecv"};

/// Between the GPUs of one node: NVLink by generation, NVLink bridges between pairs of cards, PCIe with peer to peer,
/// and PCIe through host memory (no peer to peer).
enum class NodeLink { nvlink2, nvlink3, nvlink4, nvlink5, bridge, pcie, host };
inline constexpr std::array<std::string_view, 7> node_link_names{"nvlink2", "nvlink3", "nvlink4", "nvlink5",
                                                                 "bridge",  "pcie",    "host"};

/// Between nodes, by the transport NCCL uses.
enum class Network { infiniband, roce, efa, slingshot, tcp, tcpx, tcpxo, unknown };
inline constexpr std::array<std::string_view, 8> network_names{"infiniband", "roce", "efa",   "slingshot",
                                                               "tcp",        "tcpx", "tcpxo", "unknown"};

/// How a set-up differs from what NCCL would do by itself.
struct NcclSettings {
    bool ring = true, tree = true, nvls = true, pat = true;
    bool sharp = false;  // CollNet: the network's switches reduce
    bool ll = true, ll128 = true;
};

struct Fabric {
    NodeLink node_link = NodeLink::pcie;
    double node_GBps = 0.0;  // of one GPU, one way, as stated in data sheets (A100: 300)
    Network network = Network::unknown;
    double network_GBps = 0.0;  // of one node, one way: NICs times their rate
    int nics_per_node = 1;
    int domain_ranks = 0;  // GPUs that one NVLink domain spans over nodes (GB200 NVL72: 72); 0: a node is a domain
    bool amd_host = false;
    NcclSettings settings;
};

}  // namespace dlcast
