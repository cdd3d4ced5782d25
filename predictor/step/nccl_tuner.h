// SPDX-License-Identifier: GPL-2.0-or-later
// The numbers of NCCL's own cost model (NCCL 2.30.7, src/graph/tuning.cc): latencies in microseconds, bandwidths in
// GB/s. Rows are LL, LL128, Simple.
#pragma once

#include <array>

namespace dlcast::nccl {

using PerProtocol = std::array<double, 3>;

inline constexpr PerProtocol ring_base_us{6.6, 14.0, 8.4};
inline constexpr PerProtocol tree_base_us{6.8, 14.0, 8.4};
inline constexpr double pat_base_us = 8.0;

// One hop over NVLink, PCIe and the network.
inline constexpr PerProtocol ring_nvlink_us{0.6, 1.9, 3.4}, ring_pcie_us{1.0, 2.5, 5.7},
    ring_network_us{2.7, 4.0, 14.0};
inline constexpr PerProtocol tree_nvlink_us{0.6, 1.25, 4.0}, tree_pcie_us{1.0, 1.9, 4.0},
    tree_network_us{5.0, 8.5, 14.0};
inline constexpr double nvls_nvlink_us = 25.0, nvls_tree_network_us = 20.9, nvls_network_us = 18.0;
inline constexpr double collnet_chain_us = 2.8, collnet_chain_network_us = 30.0;
inline constexpr double pat_network_us = 14.0;
// Handing a message to the NIC; Simple hands over three times.
inline constexpr double post_intel_us = 1.0, post_amd_us = 2.0;

// The most that LL moves, by GPU generation (Volta, Ampere, Hopper, Blackwell) on one node; on several by host: the
// Ampere row for AMD, the Volta row for others. Columns: 1, 2, more nodes.
inline constexpr std::array<std::array<double, 3>, 4> ll_cap_GBps{
    {{39.0, 39.0, 20.4}, {87.7, 22.5, 19.0}, {141.0, 45.0, 35.0}, {282.0, 90.0, 70.0}}};

// Share of the link's rate that carries payload.
inline constexpr double ring_ll_share = 0.5, ring_ll128_share = 0.92;
inline constexpr double tree_ll_share = 1 / 3.8, tree_ll128_share_one_node = 7.0 / 9, tree_ll128_share = 15.0 / 16;
inline constexpr double pat_share = 0.75;

}  // namespace dlcast::nccl
