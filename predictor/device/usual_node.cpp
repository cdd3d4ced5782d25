// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/device/usual_node.h"

#include <algorithm>

namespace dlcast {
namespace {

constexpr double bytes_per_Gb = 1e9 / 8;
constexpr int gpus_of_server = 8;
constexpr int gpus_of_superchip_node = 4;  // GB200 NVL72 compute tray, and nodes of four GH200

struct Generation {
    double compute_capability;
    int adapters;
    double adapter_Gbps;
    const char* system;
};

// Compute adapters of NVIDIA's own servers of eight GPUs, from the data sheets of the systems; other vendors' servers
// follow them. Cards for workstations and inference (7.5, 8.6, 8.9, 12.0) are not sold in such servers.
constexpr Generation generations[] = {
    {7.0, 4, 100, "DGX-1V"},                                 // ConnectX-4, EDR InfiniBand
    {8.0, 8, 200, "DGX A100"},                               // ConnectX-6, HDR
    {9.0, 8, 400, "DGX H100"},                               // ConnectX-7, NDR
    {10.0, 8, 400, "DGX H100"}, {10.3, 8, 400, "DGX H100"},  // taken as the generation before them
};

}  // namespace

int usual_gpus_per_node(const Device& device) {
    if (device.vendor == "cpu") return 1;  // all of a node's processors are one device
    const bool is_superchip = device.name.starts_with("GH") || device.name.starts_with("GB");
    return is_superchip ? gpus_of_superchip_node : gpus_of_server;
}

double NodeNetwork::node_Bps(int gpus_per_node) const {
    const double all_Bps = adapters * adapter_Gbps * bytes_per_Gb;
    return gpus > 0 ? all_Bps / gpus * std::max(1, gpus_per_node) : all_Bps;
}

NodeNetwork usual_network(const Device& device) {
    for (const Generation& g : generations)
        if (device.vendor == "nvidia" && device.compute_capability == g.compute_capability)
            return {g.adapters, g.adapter_Gbps, gpus_of_server, g.system};
    return {};
}

}  // namespace dlcast
