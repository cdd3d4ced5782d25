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
    MessageTimes(const Allocation& allocation, const NcclConstants& constants)
        : node_(fabric_of(allocation)), constants_(constants) {}
    /// `bytes`: the whole array, as nccl_time counts.
    Message of(Collective collective, double bytes, const Group& group) const;

private:
    Fabric node_;
    const NcclConstants& constants_;
};

}  // namespace dlcast
