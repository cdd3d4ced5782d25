// SPDX-License-Identifier: GPL-2.0-or-later
// The kinds of links by the names people give them (etc/links.toml), and the constants fitted to measured collectives
// (etc/collectives.toml).
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "predictor/base/result.h"
#include "predictor/device/device.h"
#include "predictor/step/nccl_constants.h"
#include "predictor/step/refined_collective.h"

namespace dlcast {

struct LinkCatalog {
    std::map<std::string, NodeLink> nvlink_of_gpu;  // squeezed GPU family ("a100") -> NVLink generation
    NcclPriors priors;

    /// A set-up's link inside the node: NVL_<GPU>, NVB_<GPU> (bridge pairs), PCIE<n>; without peer to peer PCIe goes
    /// through host memory. Of an unknown kind or GPU the stated rate decides (150, 300, 450, 900 GB/s for NVLink 2 to
    /// 5; below 100 it is PCIe).
    NodeLink node_link(std::string_view kind, double node_GBps, bool peer_to_peer) const;
};

/// One way rate of a kind of link in GB/s, for set-ups that state none: 16 for PCIE3, 32 for PCIE4, ...
double usual_GBps(NodeLink link, std::string_view kind);

/// The links inside a node of this device, by its catalog entry (nvlink4, nvlink3-4, pcie5, xgmi3); the network is for
/// the caller to fill in. GeForce boards have no peer to peer.
Fabric fabric_of(const Device& device);

/// A set-up's network: IB, RoCE, EFA, Slingshot, TCP, TCPX, TCPXO, whatever stands before a '+' ("MNNVL+RoCE") aside;
/// anything else is `unknown`.
Network network_of(std::string_view kind);

/// Reads links.toml: [nvlink] GPU = "generation", [prior] constant = [median, log_sd]. Errors with line and column: a
/// constant missing, unknown, not above 0.
Result<LinkCatalog> parse_link_catalog(std::string_view text, const std::string& source);

/// Standard deviation of log(measured / forecast) whose 90 % interval held on sites left out, by size: up to 64 KiB, up
/// to 16 MiB, larger.
struct CollectiveSpread {
    std::array<double, 3> one_node{0.4, 0.4, 0.4}, several_nodes{0.4, 0.4, 0.4};
    double of(double bytes, int nodes) const;
};
/// 0, 1, 2: up to 64 KiB, up to 16 MiB, larger.
std::size_t size_class(double bytes);

struct FittedCollectives {
    NcclConstants constants;
    CollectiveSpread spread;
    std::string provenance;
    std::vector<RefinedCollective> refined;  // tables measured at the site; not of collectives.toml
};

/// Reads and writes collectives.toml: [constants] and [spread]. Errors as above.
Result<FittedCollectives> parse_fitted_collectives(std::string_view text, const std::string& source);
std::string write_fitted_collectives(const FittedCollectives& fitted);

}  // namespace dlcast
