// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/nccl_estimate.h"

namespace dlcast {

Result<CollectiveEstimate> estimate_collective(Collective collective, double bytes, int ranks_per_node, int nodes,
                                               const Fabric& fabric, const FittedCollectives& fitted) {
    const auto time = nccl_time(collective, bytes, ranks_per_node, nodes, fabric, fitted.constants);
    if (!time) return time.error();
    if (!(time->median_us > 0)) return CollectiveEstimate{};
    return CollectiveEstimate{time->median_us * 1e-6, fitted.spread.of(bytes, nodes)};
}

}  // namespace dlcast
