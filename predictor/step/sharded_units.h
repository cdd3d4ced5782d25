// SPDX-License-Identifier: GPL-2.0-or-later
// Units of layers whose weights are sharded over data ranks (FSDP, ZeRO 3).
#pragma once

#include <vector>

#include "predictor/step/step_exchange.h"

namespace dlcast {

/// Repeated blocks are a unit each; what stands outside joins the unit before it. `gathers_again`: backward gathers
/// weights once more (not under grad_op, which keeps them from forward). Hybrid sharding stays inside nodes and reduces
/// the shards between them.
std::vector<ShardedUnit> sharded_units(const ExchangeQuery& query, const MessageTimes& times, bool& gathers_again);

}  // namespace dlcast
