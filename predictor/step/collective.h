// SPDX-License-Identifier: GPL-2.0-or-later
// Collective communication in the latency-bandwidth (alpha-beta) model.
#pragma once

#include <cstdint>

#include "predictor/base/result.h"
#include "predictor/device/cluster.h"

namespace dlcast {

/// Seconds until every rank holds the sum, by a ring all-reduce:
///     t = 2 (p - 1) (alpha + n / (p beta)),    p = ranks, n = bytes per rank
/// One rank costs nothing. `invalid_argument` if ranks < 1 or the link has no bandwidth.
/// Source: Patarasuk & Yuan, J. Parallel Distrib. Comput. 69 (2009) 117-124.
Result<double> ring_allreduce_s(int ranks, std::uint64_t bytes, const Link& link);

/// Seconds until every rank holds all parts, by a ring all-gather; also the reduce-scatter, which runs the ring the
/// other way:
///     t = (p - 1) (alpha + n / (p beta)),    n = bytes of the whole array
/// Errors as above. Source: Thakur, Rabenseifner & Gropp, Int. J. High Perform. Comput. Appl. 19 (2005) 49-66.
Result<double> ring_allgather_s(int ranks, std::uint64_t bytes, const Link& link);

/// Seconds until every rank holds the sum, by two binary trees that share the work (reduce up, broadcast down,
/// pipelined):
///     t = 2 (ceil(log2 p) alpha + (p - 1) n / (p beta))
/// Errors as above. Source: Sanders, Speck & Traeff, Parallel Comput. 35 (2009) 581-594; its use in NCCL: Jeaugey 2019.
Result<double> tree_allreduce_s(int ranks, std::uint64_t bytes, const Link& link);

/// Where the ranks of one group sit: `nodes` x `ranks_per_node`.
struct Group {
    int nodes = 1;
    int ranks_per_node = 1;
    Link intra_node;  // between ranks of one node
    Link inter_node;  // between nodes, per rank
    int ranks() const { return nodes * ranks_per_node; }
};

/// All-reduce in three stages: reduce-scatter inside each node, all-reduce of each rank's part between the nodes (by
/// ring or tree, whichever is faster), all-gather inside each node. On one node that is the ring itself. Errors as
/// above, for the links that are used. Source: Cho et al., BlueConnect, IBM J. Res. Dev. 63 (2019) 1:1-1:11.
Result<double> allreduce_s(const Group& group, std::uint64_t bytes);

/// All-gather (or reduce-scatter) of `bytes` in all: between the nodes first, then inside each node.
Result<double> allgather_s(const Group& group, std::uint64_t bytes);

}  // namespace dlcast
