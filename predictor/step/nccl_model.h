// SPDX-License-Identifier: GPL-2.0-or-later
// The time of a collective in the form of NCCL's own cost model, with constants fitted to measured tables.
#pragma once

#include "predictor/base/result.h"
#include "predictor/step/nccl_constants.h"

namespace dlcast {

enum class Algorithm { ring, tree, nvls, nvls_tree, collnet, pat, peers };

/// What one site's measurements may add: factors on its kernel launch and on all its bandwidths.
struct SiteFactors {
    double launch = 1.0, bandwidth = 1.0;
};

struct CollectiveTime {
    double median_us = 0.0;
    Algorithm algorithm = Algorithm::ring;
    Protocol protocol = Protocol::simple;
};

/// Microseconds of one collective over `nodes` x `ranks_per_node` GPUs. `bytes`: the whole array, as nccl-tests counts
/// (all-gather: all parts together; all-to-all: what one rank sends). One rank costs nothing. For every pair of
/// algorithm and protocol that NCCL could run,
///     t = launch + latency + wire + fill sqrt(latency wire),    wire = bytes / bandwidth,
/// and the fastest pair wins, so more bytes never take less time. (sqrt(latency) + sqrt(wire))^2, fill = 2, is the time
/// of a pipeline with the best chunk size.
/// Errors: no ranks, negative bytes, a link that is used without bandwidth.
/// Source of the form: NCCL 2.30.7, src/graph/tuning.cc. Allocates nothing; below a microsecond.
Result<CollectiveTime> nccl_time(Collective collective, double bytes, int ranks_per_node, int nodes,
                                 const Fabric& fabric, const NcclConstants& constants, const SiteFactors& site = {});

}  // namespace dlcast
