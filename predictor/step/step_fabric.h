// SPDX-License-Identifier: GPL-2.0-or-later
// The links of an allocation as the collectives' cost model sees them.
#pragma once

#include "predictor/device/cluster.h"
#include "predictor/step/layout.h"
#include "predictor/step/link_catalog.h"

namespace dlcast {

/// Inside nodes the device's own link, unless the allocation states a slower or faster one; between nodes the network
/// by its kind, or by its latency where it names none, with a share of the adapters for each GPU.
Fabric fabric_of(const Allocation& allocation);

/// What one group has of it while the node's other groups exchange too.
Fabric fabric_of(const Group& group, const Fabric& node);

}  // namespace dlcast
