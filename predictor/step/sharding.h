// SPDX-License-Identifier: GPL-2.0-or-later
// One GPU's share of an operator under tensor, sequence and context parallelism.
#pragma once

#include "predictor/step/layout.h"
#include "predictor/timing/operator.h"

namespace dlcast {

/// Tensor ranks divide the wider side of each weight, the heads of attention and what acts on them; other row-wise
/// operators are divided under sequence parallelism only. Context ranks divide tokens. A size that does not divide is
/// rounded up. Source: Shoeybi et al., Megatron-LM, arXiv:1909.08053; Korthikanti et al., arXiv:2205.05198.
Operator shard(Operator op, const Layout& layout);

/// One rank's share of a weight update: parameters over tensor and pipeline ranks and over the shards of the optimizer.
Operator shard_update(Operator op, const Layout& layout);

}  // namespace dlcast
