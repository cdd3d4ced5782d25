// SPDX-License-Identifier: GPL-2.0-or-later
// From a forecast to a time limit, by the administrator's policy.
#pragma once

#include <cstdint>
#include <string>

#include "predictor/device/cluster.h"
#include "predictor/job/job_forecast.h"
#include "predictor/job/site_config.h"

namespace dlcast {

struct TimeLimit {
    std::int64_t minutes = -1;
    bool fits = true;       // false: the forecast quantile itself is longer than the cap
    std::string cap;        // what bound the limit: "partition a100 MaxTime 1-00:00:00"; empty: nothing did
    std::string capped_by;  // the same in short: "partition's MaxTime"
};

/// quantile x margin, rounded up, between floor and ceiling, never 0, never above the partition's MaxTime (-1: none)
/// nor ten years.
TimeLimit choose_time_limit(const JobForecast& forecast, const SiteConfig& site, const std::string& partition,
                            std::int64_t partition_max_min);

/// Whether policy lets us write a limit over the one the user asked for (-1: none asked, 0: UNLIMITED).
bool may_set_limit(Overwrite overwrite, std::int64_t asked_min, std::int64_t ours_min);

/// "4:00:00", "1-00:00:00": minutes as sbatch takes them.
std::string format_limit(std::int64_t minutes);

}  // namespace dlcast
