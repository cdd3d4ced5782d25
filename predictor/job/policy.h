// SPDX-License-Identifier: GPL-2.0-or-later
// From a forecast to a time limit, by the administrator's policy.
#pragma once

#include <cstdint>
#include <string>

#include "predictor/device/cluster_limits.h"
#include "predictor/job/job_forecast.h"
#include "predictor/job/margins.h"
#include "predictor/job/site_config.h"

namespace dlcast {

struct TimeLimit {
    std::int64_t minutes = -1;
    std::string keeps;      // "kill rate 1 %", by a calibrated margin; empty: it is quantile x margin_factor
    bool fits = true;       // false: the forecast quantile itself is longer than the cap
    std::string cap;        // what bound the limit: "partition a100 MaxTime 1-00:00:00"; empty: nothing did
    std::string capped_by;  // the same in short: "partition's MaxTime"
};

/// quantile x margin_factor, or where there is a calibrated `margin` the median x its factor; rounded up, between floor
/// and ceiling, never 0, never above the cap nor ten years.
TimeLimit choose_time_limit(const JobForecast& forecast, const SiteConfig& site, const TimeCap& cap,
                            const Margin* margin = nullptr);

/// The median, rounded up like a limit, at least the floor and at most `limit_min`: what the scheduler plans with where
/// --time-min is a soft limit.
std::int64_t soft_limit_min(const JobForecast& forecast, const SiteConfig& site, std::int64_t limit_min);

/// Whether policy lets us write a limit over the one the user asked for (-1: none asked, 0: UNLIMITED).
bool may_set_limit(Overwrite overwrite, std::int64_t asked_min, std::int64_t ours_min);

/// "4:00:00", "1-00:00:00": minutes as sbatch takes them.
std::string format_limit(std::int64_t minutes);

}  // namespace dlcast
