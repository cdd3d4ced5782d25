// SPDX-License-Identifier: GPL-2.0-or-later
// From step estimates to the candidate a job is sent to.
#pragma once

#include <vector>

#include "predictor/job/candidates.h"

namespace dlcast {

/// The candidate of one placement: its forecast, its limit, and whether memory and time hold it; `reason` says what
/// does not.
Candidate make_candidate(const Workload& workload, const StepEstimate& step, const Placement& placement,
                         const SiteConfig& site);

/// Indices of the candidates that may be the best if the seconds of each may yet grow or shrink by `factor`: those of
/// the partition that is ahead now, and whoever is within `factor` of it.
std::vector<std::size_t> contenders(const std::vector<Candidate>& candidates, const std::vector<Placement>& placements,
                                    Ranking ranking, double factor);

/// Index of the best candidate by the site's ranking, those that fit first; of several kinds of nodes in one partition
/// the slowest counts, since Slurm may take any. -1 where there is none.
int choose_candidate(const std::vector<Candidate>& candidates, const std::vector<Placement>& placements,
                     Ranking ranking);

}  // namespace dlcast
