// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/device/usual_node.h"

#include <catch2/catch.hpp>

using namespace dlcast;

namespace {
Device nvidia(const char* name, double compute_capability) {
    Device device;
    device.name = name;
    device.vendor = "nvidia";
    device.compute_capability = compute_capability;
    return device;
}
}  // namespace

// 100 Gb/s are 12.5 GB/s: 4 x 12.5 = 50 GB/s of a DGX-1V, 8 x 25 of a DGX A100, 8 x 50 of a DGX H100; half a node has
// half.
TEST_CASE("a node's network follows the GPU's generation", "[usual_node]") {
    CHECK(usual_network(nvidia("V100-SXM2-16GB", 7.0)).node_Bps(8) == 50e9);
    CHECK(usual_network(nvidia("A100-SXM4-80GB", 8.0)).node_Bps(8) == 200e9);
    CHECK(usual_network(nvidia("H100-SXM5-80GB", 9.0)).node_Bps(8) == 400e9);
    CHECK(usual_network(nvidia("H100-SXM5-80GB", 9.0)).node_Bps(4) == 200e9);
    CHECK(usual_network(nvidia("B200-SXM-180GB", 10.0)).node_Bps(8) == 400e9);
}

TEST_CASE("a GPU of no such server has 100 Gb/s a node, however many it holds", "[usual_node]") {
    CHECK(usual_network(nvidia("T4", 7.5)).node_Bps(1) == 12.5e9);
    CHECK(usual_network(nvidia("T4", 7.5)).node_Bps(8) == 12.5e9);
    CHECK(usual_network(nvidia("T4", 7.5)).system.empty());
}

TEST_CASE("a node holds eight GPUs, or four superchips", "[usual_node]") {
    CHECK(usual_gpus_per_node(nvidia("H100-SXM5-80GB", 9.0)) == 8);
    CHECK(usual_gpus_per_node(nvidia("GH200-96GB", 9.0)) == 4);
    CHECK(usual_gpus_per_node(nvidia("GB200-186GB", 10.0)) == 4);
}
