// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/message_times.h"

namespace dlcast {

Message MessageTimes::of(Collective collective, double bytes, const Group& group) const {
    if (group.ranks() < 2 || !(bytes > 0)) return {};
    const Fabric fabric = fabric_of(group, node_);
    const auto time = nccl_time(collective, bytes, group.ranks_per_node, group.nodes, fabric, constants_);
    if (!time) return {};
    const Wire inside = fabric.node_link < NodeLink::bridge ? Wire::nvlink : Wire::pcie;
    return {1e-6 * time->median_us, group.nodes > 1 ? Wire::network : inside};
}

}  // namespace dlcast
