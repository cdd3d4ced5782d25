// SPDX-License-Identifier: GPL-2.0-or-later
// The constants by which measured collectives differ from NCCL's own cost model: a few dozen, each with a physical
// meaning, none of any one set-up.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "predictor/base/result.h"
#include "predictor/step/nccl_fabric.h"

namespace dlcast {

enum class Protocol { ll, ll128, simple };
inline constexpr std::array<std::string_view, 3> protocol_names{"ll", "ll128", "simple"};

/// Factors on the numbers of NCCL's model unless a unit is named.
struct NcclConstants {
    double launch_us = 0.0;                                         // of the kernel, whatever it does
    std::array<double, node_link_names.size()> launch{};            // factor by node kind
    std::array<double, protocol_names.size()> base{};               // start-up of an algorithm
    double one_way_base = 0.0;                                      // of collectives with one phase, over that
    double hop = 0.0;                                               // latency inside a node: all links,
    std::array<double, node_link_names.size()> link_hop{};          // each kind,
    double ring_hop = 0.0, tree_hop = 0.0;                          // and each algorithm
    double network_hop = 0.0;                                       // latency between nodes
    std::array<double, network_names.size()> network_extra_us{};    // the transport's own, once a message
    std::array<double, node_link_names.size()> link_efficiency{};   // payload over stated rate
    std::array<double, network_names.size()> network_efficiency{};  // payload over stated rate
    double staged_network = 0.0;                                    // EFA without GPUDirect: through host memory
    double duplex_host = 0.0;                                       // host memory serves both directions
    std::array<double, protocol_names.size()> protocol_bandwidth{};
    // Of the filling of a pipeline: t = latency + wire + fill sqrt(latency wire); 2 where the chunks are the best ones.
    std::array<double, protocol_names.size()> ring_fill{}, tree_fill{};
    double nvls_fill = 0.0, nvls_tree_fill = 0.0, peer_fill = 0.0;
    std::array<double, network_names.size()> network_fill{};  // factor on these between nodes
    double full_pipeline = 0.0;                               // wire time, in latencies, from which chunks grow no more
    double nvls_latency = 0.0, nvls_hopper = 0.0, nvls_blackwell = 0.0;
    double nvls_tree_inner = 0.0;  // a node with two children and a parent, over one with one neighbour
    double peer_base = 0.0, peer_bandwidth = 0.0;
    double peer_each_us = 0.0;   // for each further peer
    double peer_cap_GBps = 0.0;  // between two GPUs: NCCL gives a pair few channels
    double own_part = 0.0;       // rate of the copy of a rank's own part, over its stated link rate
};

/// Calls visit(name, constant) for every constant, in a fixed order. C is NcclConstants or const NcclConstants.
template <typename C, typename Visit>
void for_each_constant(C& c, Visit visit) {
    const auto each = [&](const std::string& name, auto& values, const auto& names) {
        for (std::size_t i = 0; i < values.size(); ++i) visit(name + "." + std::string(names[i]), values[i]);
    };
    visit("launch_us", c.launch_us);
    each("launch", c.launch, node_link_names);
    each("base", c.base, protocol_names);
    visit("one_way_base", c.one_way_base);
    visit("hop", c.hop);
    each("link_hop", c.link_hop, node_link_names);
    visit("ring_hop", c.ring_hop);
    visit("tree_hop", c.tree_hop);
    visit("network_hop", c.network_hop);
    each("network_extra_us", c.network_extra_us, network_names);
    each("link_efficiency", c.link_efficiency, node_link_names);
    each("network_efficiency", c.network_efficiency, network_names);
    visit("staged_network", c.staged_network);
    visit("duplex_host", c.duplex_host);
    each("protocol_bandwidth", c.protocol_bandwidth, protocol_names);
    each("ring_fill", c.ring_fill, protocol_names);
    each("tree_fill", c.tree_fill, protocol_names);
    visit("nvls_fill", c.nvls_fill);
    visit("nvls_tree_fill", c.nvls_tree_fill);
    visit("peer_fill", c.peer_fill);
    each("network_fill", c.network_fill, network_names);
    visit("full_pipeline", c.full_pipeline);
    visit("nvls_latency", c.nvls_latency);
    visit("nvls_hopper", c.nvls_hopper);
    visit("nvls_blackwell", c.nvls_blackwell);
    visit("nvls_tree_inner", c.nvls_tree_inner);
    visit("peer_base", c.peer_base);
    visit("peer_bandwidth", c.peer_bandwidth);
    visit("peer_each_us", c.peer_each_us);
    visit("peer_cap_GBps", c.peer_cap_GBps);
    visit("own_part", c.own_part);
}

/// What is known of the constants before a measurement: a typical value, and how far (standard deviation of the natural
/// logarithm) a fit may take them.
struct NcclPriors {
    NcclConstants median, log_sd;
};

}  // namespace dlcast
