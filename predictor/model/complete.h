// SPDX-License-Identifier: GPL-2.0-or-later
// A declaration that leaves nothing open.
#pragma once

#include "predictor/model/workload.h"

namespace dlcast {

/// The declaration's tree with every default written out that `workload` (made of it) took: what stands there stays as
/// it is written, what was missing follows. Read again it gives the same workload, and completes to itself. A duration
/// or a data set that nobody named stays out.
Value complete(const Declaration& declaration, const Workload& workload);

}  // namespace dlcast
