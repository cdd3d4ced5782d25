// SPDX-License-Identifier: GPL-2.0-or-later
// How the degrees of parallelism share the GPUs of an allocation.
#pragma once

#include "predictor/base/result.h"
#include "predictor/device/cluster.h"
#include "predictor/model/workload.h"

namespace dlcast {

/// Where the ranks of one group sit: `nodes` x `ranks_per_node`.
struct Group {
    int nodes = 1;
    int ranks_per_node = 1;
    Link intra_node;  // between ranks of one node
    Link inter_node;  // between nodes, per rank
    int ranks() const { return nodes * ranks_per_node; }
};

/// Degrees that multiply to the world size: tensor ranks are neighbours, then context, then pipeline, then data ranks.
struct Layout {
    int dp = 1, tp = 1, pp = 1, vp = 1, cp = 1, ep = 1;
    bool sequence_parallel = false;
    // Of how many data ranks each shards its copy of weights, gradients and optimizer states (ZeRO 3, 2, 1; FSDP).
    int weight_shards = 1, gradient_shards = 1, optimizer_shards = 1;
    Group data, tensor, context;  // where the ranks of one such group sit
};

/// dp = 0 takes what the other degrees leave. Expert ranks (ep) are data ranks. invalid_argument, with the nearest
/// valid choices: a degree below 1, degrees that do not multiply to the GPU count, tensor ranks on several nodes unless
/// `tp_over_nodes` says so, expert ranks that do not divide the data ranks.
Result<Layout> make_layout(const Parallel& parallel, const Allocation& allocation);

/// Where `ranks` ranks sit that stand `stride` apart in the world: how many of them share a node.
Group place_ranks(int ranks, int stride, const Allocation& allocation);

}  // namespace dlcast
