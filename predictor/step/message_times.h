// SPDX-License-Identifier: GPL-2.0-or-later
// Seconds of one message alone on its links, by NCCL's cost model.
#pragma once

#include "predictor/step/nccl_model.h"
#include "predictor/step/step_fabric.h"

namespace dlcast {

/// The slowest kind of link that a message crosses.
enum class Wire { nvlink, pcie, network };

struct Message {
    double alone_s = 0.0;  // 0: none
    Wire wire = Wire::nvlink;
};

/// Collectives on one allocation. A group of one rank, or no bytes, costs nothing; so does a link without bandwidth,
/// which the caller has refused before.
class MessageTimes {
public:
    /// Tables measured on the allocation's GPU correct messages of the same collective over a group of the same shape.
    MessageTimes(const Allocation& allocation, const FittedCollectives& collectives);
    /// `bytes`: the whole array, as nccl_time counts.
    Message of(Collective collective, double bytes, const Group& group) const;

private:
    Fabric node_;
    double form_us(Collective collective, double bytes, const Group& group, const Fabric& fabric) const;
    struct Measured {
        Collective collective;
        int ranks_per_node, nodes;
        CollectiveCorrection correction;
    };
    const NcclConstants& constants_;
    std::vector<Measured> measured_;
};

}  // namespace dlcast
