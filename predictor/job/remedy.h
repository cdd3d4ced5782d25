// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <string>

#include "predictor/job/job_forecast.h"
#include "predictor/job/site_config.h"

namespace dlcast {

/// What helps a job that may take longer than `cap_min`: how many jobs in a chain that resume from checkpoints, and how
/// much of the training one job holds, both at the site's quantile. `unit` is what there may be more of, GPU or node.
std::string time_remedy(const Workload& workload, const JobForecast& job, const SiteConfig& site, std::int64_t cap_min,
                        const char* unit);

/// What helps a job that `step` shows too large for the memory of `allocation`'s devices: what leaves something to win,
/// and would hold; where nothing does, other devices.
std::string memory_remedy(const Workload& workload, const StepEstimate& step, const Allocation& allocation,
                          const char* unit);

}  // namespace dlcast
