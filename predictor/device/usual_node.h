// SPDX-License-Identifier: GPL-2.0-or-later
// What nodes usually are, for sites and people who do not state theirs.
#pragma once

#include <string>

#include "predictor/device/device.h"

namespace dlcast {

/// GPUs a node has at most: eight, four of Grace superchips.
int usual_gpus_per_node(const Device& device);

/// Network adapters as servers of a GPU's generation have them.
struct NodeNetwork {
    int adapters = 1;
    double adapter_Gbps = 100;
    int gpus = 0;        // that share them; 0: all of a node, however many
    std::string system;  // whose data sheet says so; empty: none does
    double node_Bps(int gpus_per_node) const;
};

/// By compute capability; one adapter of 100 Gb/s a node where that is no GPU of large servers.
NodeNetwork usual_network(const Device& device);

/// What InfiniBand and RoCE carry of an adapter's rate.
constexpr double network_attained = 0.87;

}  // namespace dlcast
