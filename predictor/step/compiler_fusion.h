// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <vector>

#include "predictor/model/workload.h"

namespace dlcast {

/// A compiler makes one kernel of a chain of row-wise layers: those after its first (true, one entry a layer) add
/// neither traffic nor launches. Empty where the training's software has no such compiler.
std::vector<bool> fused_away(const Workload& workload);

}  // namespace dlcast
