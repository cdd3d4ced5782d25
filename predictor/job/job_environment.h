// SPDX-License-Identifier: GPL-2.0-or-later
// What a batch job finds of its forecast in its environment, to decide whether one more epoch fits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "predictor/job/candidates.h"

namespace dlcast {

/// "NAME=value", whole seconds unless said otherwise: DLCAST_FORECAST_P50_S and _P95_S of the whole job, DLCAST_STEP_S
/// (of one optimizer step, with decimals), DLCAST_STARTUP_S, DLCAST_EPOCH_S with its validation and DLCAST_EPOCHS_FIT
/// (whole epochs that end within the limit at the site's quantile) where the data set is known, DLCAST_LIMIT_S where
/// the job has a limit (`limit_min` > 0).
std::vector<std::string> job_environment(const Workload& workload, const Candidate& candidate, const SiteConfig& site,
                                         std::int64_t limit_min);

}  // namespace dlcast
