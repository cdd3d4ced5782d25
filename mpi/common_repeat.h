// SPDX-License-Identifier: GPL-2.0-or-later
// Repetitions of what all ranks do together: the time is the slowest rank's, and all agree when it is enough.
#pragma once

#include "mpi/ranks.h"
#include "profiler/repeat.h"

namespace dlcast {

/// As `repeat`, over all ranks: `run_s` is each rank's own part. The same figures come back on all of them.
Statistics repeat_together(Ranks& ranks, const std::function<double()>& run_s, const RepeatPolicy& policy,
                           const std::string& what);

}  // namespace dlcast
