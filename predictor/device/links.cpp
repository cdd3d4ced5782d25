// SPDX-License-Identifier: GPL-2.0-or-later
// Links between the GPUs of one node, by the kind that a catalog entry names.
#include <array>

#include "predictor/device/cluster.h"

namespace dlcast {
namespace {

// What a GPU can send to its neighbours, one way: links x rate of the interface, from the vendor's white paper of the
// generation. A protocol reaches `attained` of it: packet headers cost NVLink a fifth and PCIe a quarter (NCCL's own
// topology search counts 20 of 25 GB/s a link for NVLink 3, 20.6 of 25 for NVLink 4, 12 of 16 GB/s for PCIe 3 x16;
// source: NCCL 2.30, src/graph/topo.h). `latency_us` is the step of a ring in the Simple protocol (same source,
// tuning.cc): 3.4 us over NVLink, 5.7 us over PCIe.
struct LinkKind {
    std::string_view name;
    double raw_GBps;
    double attained;
    double latency_us;
};
constexpr std::array<LinkKind, 16> kinds{{
    {"none", 0.0, 0.0, 0.0},                // one GPU a node
    {"pcie3", 16, 0.75, 5.7},               // x16
    {"pcie4", 32, 0.75, 5.7},               //
    {"pcie5", 64, 0.75, 5.7},               //
    {"nvlink1", 4 * 20, 0.80, 3.4},         // P100
    {"nvlink2", 6 * 25, 0.80, 3.4},         // V100
    {"nvlink3", 12 * 25, 0.80, 3.4},        // A100
    {"nvlink3-4", 4 * 14.0625, 0.80, 3.4},  // bridge pair of RTX 3090, RTX A6000, A40
    {"nvlink3-8", 8 * 25, 0.80, 3.4},       // A800
    {"nvlink4", 18 * 25, 0.82, 3.4},        // H100, H200, H20
    {"nvlink4-8", 8 * 25, 0.82, 3.4},       // H800
    {"nvlink4-12", 12 * 25, 0.82, 3.4},     // H100 NVL pair
    {"nvlink5", 18 * 50, 0.80, 3.4},        // B200, B300, GB200, GB300
    {"xgmi2", 3 * 50, 0.75, 5.7},           // MI250, MI250X: links to neighbours beyond its own module
    {"xgmi3", 7 * 64, 0.75, 5.7},           // MI300A, MI300X, MI325X: one link to each of seven others
    {"xgmi4", 7 * 76.8, 0.75, 5.7},         // MI355X
}};

}  // namespace

std::optional<Link> link_named(std::string_view kind) {
    for (const LinkKind& k : kinds)
        if (k.name == kind) return Link{k.latency_us * 1e-6, k.raw_GBps * 1e9 * k.attained};
    return std::nullopt;
}

std::vector<std::string> link_names() {
    std::vector<std::string> out;
    for (const LinkKind& k : kinds) out.emplace_back(k.name);
    return out;
}

Link intra_node_link(const Device& device) {
    if (const auto link = link_named(device.link); link && link->bandwidth_Bps > 0.0) return *link;
    return *link_named("pcie4");  // what any server of the last years has
}

}  // namespace dlcast
