// SPDX-License-Identifier: GPL-2.0-or-later
// A submission against what its account may still use, by the cluster file.
#pragma once

#include <string>

#include "predictor/device/cluster_limits.h"
#include "predictor/job/verdict.h"

namespace dlcast {

/// Of the budgets that bind a job of `who` on GPUs `gres` in `partition` (the user's own, the account's, those of all
/// accounts above) the one with the fewest GPU-hours free; null where none binds.
const GpuBudget* tightest_budget(const Cluster& cluster, const Submitter& who, const std::string& partition,
                                 const std::string& gres);

/// Holds the median forecast of all array tasks against the tightest budget. Where it does not suffice, the site's
/// [budget] policy and mode decide: `verdict` becomes a refusal, gets a line for the user, or one for the log.
void check_budget(const Decision& decision, const SubmitRequest& request, const SiteConfig& site,
                  const Cluster& cluster, std::int64_t now_s, Verdict& verdict);

}  // namespace dlcast
