// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/message_times.h"

namespace dlcast {

MessageTimes::MessageTimes(const Allocation& allocation, const FittedCollectives& collectives)
    : node_(fabric_of(allocation)), constants_(collectives.constants) {
    for (const RefinedCollective& table : collectives.refined) {
        if (table.gpu != allocation.device.name) continue;
        // They were measured alone: the group had the node's network to itself.
        Group group;
        group.nodes = table.nodes;
        group.ranks_per_node = table.ranks_per_node;
        const auto form = [&](double bytes) { return form_us(table.collective, bytes, group, node_); };
        measured_.push_back({table.collective, table.ranks_per_node, table.nodes, CollectiveCorrection(table, form)});
    }
}

double MessageTimes::form_us(Collective collective, double bytes, const Group& group, const Fabric& fabric) const {
    const auto time = nccl_time(collective, bytes, group.ranks_per_node, group.nodes, fabric, constants_);
    return time ? time->median_us : 0.0;
}

Message MessageTimes::of(Collective collective, double bytes, const Group& group) const {
    if (group.ranks() < 2 || !(bytes > 0)) return {};
    const Fabric fabric = fabric_of(group, node_);
    double us = form_us(collective, bytes, group, fabric);
    if (!(us > 0)) return {};
    for (const Measured& table : measured_)
        if (table.collective == collective && table.ranks_per_node == group.ranks_per_node &&
            table.nodes == group.nodes)
            us *= table.correction.factor(bytes, us);
    const Wire inside = fabric.node_link < NodeLink::bridge ? Wire::nvlink : Wire::pcie;
    return {1e-6 * us, group.nodes > 1 ? Wire::network : inside};
}

}  // namespace dlcast
