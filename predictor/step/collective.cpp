// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dlcast {
namespace {

Status check(int ranks, const Link& link) {
    if (ranks < 1) return invalid_argument(fmt::format("a collective of {} ranks; at least 1 is needed", ranks));
    if (ranks > 1 && !(link.bandwidth_Bps > 0))
        return invalid_argument(
            fmt::format("a collective of {} ranks over a link without bandwidth; give the link a bandwidth", ranks));
    return ok();
}

}  // namespace

Result<double> ring_allgather_s(int ranks, std::uint64_t bytes, const Link& link) {
    if (auto status = check(ranks, link); !status) return status.error();
    if (ranks == 1) return 0.0;
    return (ranks - 1) * (link.latency_s + static_cast<double>(bytes) / (ranks * link.bandwidth_Bps));
}

Result<double> ring_allreduce_s(int ranks, std::uint64_t bytes, const Link& link) {
    auto half = ring_allgather_s(ranks, bytes, link);
    if (!half) return half;
    return 2 * *half;
}

Result<double> allgather_s(const Group& group, std::uint64_t bytes) {
    // Each rank fetches its peers' parts from the other nodes over its own share of the network, then the node's ranks
    // share them.
    const auto between = ring_allgather_s(
        group.nodes, bytes / static_cast<std::uint64_t>(std::max(1, group.ranks_per_node)), group.inter_node);
    if (!between) return between;
    const auto inside = ring_allgather_s(group.ranks_per_node, bytes, group.intra_node);
    if (!inside) return inside;
    return *between + *inside;
}

Result<double> tree_allreduce_s(int ranks, std::uint64_t bytes, const Link& link) {
    if (auto status = check(ranks, link); !status) return status.error();
    if (ranks == 1) return 0.0;
    const double traffic_s = (ranks - 1) * static_cast<double>(bytes) / (ranks * link.bandwidth_Bps);
    return 2 * (std::ceil(std::log2(ranks)) * link.latency_s + traffic_s);
}

Result<double> allreduce_s(const Group& group, std::uint64_t bytes) {
    const std::uint64_t part = bytes / static_cast<std::uint64_t>(std::max(1, group.ranks_per_node));
    const auto ring = ring_allreduce_s(group.nodes, part, group.inter_node);
    const auto tree = tree_allreduce_s(group.nodes, part, group.inter_node);
    if (!ring) return ring;
    const auto inside = ring_allreduce_s(group.ranks_per_node, bytes, group.intra_node);
    if (!inside) return inside;
    return std::min(*ring, *tree) + *inside;
}

}  // namespace dlcast
