// SPDX-License-Identifier: GPL-2.0-or-later
// Of the places where a job could run, those that its parallel layout and batch allow.
#pragma once

#include "predictor/job/candidates.h"

namespace dlcast {

/// Moves placements that cannot be to `misses`, with the reason: degrees that do not make the GPU count, tensor ranks
/// on several nodes, a global batch that does not divide. Where none is left that is an error: the first one's.
Status keep_possible(const Workload& workload, Placements& placements);

}  // namespace dlcast
