// SPDX-License-Identifier: GPL-2.0-or-later
// Moments from which jobs take longer or shorter against their forecasts than before: a new driver, a new container.
#pragma once

#include <cstddef>
#include <vector>

#include "predictor/accounting/job_run.h"

namespace dlcast {

/// A change of the mean of `values` in their order: at index `first` the new level begins. The statistic is the largest
/// difference of means over all splits, in standard errors. Binary segmentation: each part is searched again.
/// A change counts from `least_statistic` on.
struct Break {
    std::size_t first = 0;
    double statistic = 0.0;
};
std::vector<Break> find_breaks(const std::vector<double>& values, std::size_t least_part);

/// Over all splits 3.56 comes up by chance once in a hundred series of independent values (Andrews, Econometrica 61
/// (1993) 821-856, table I, 10 % trimmed: 12.69 squared-scale); more is asked, since jobs of one user err alike.
constexpr double least_statistic = 4.5;
/// Changes below 5 % are within what forecasts claim.
constexpr double least_log_change = 0.0488;

/// One change in one partition. The ratios are median run time over median forecast of the jobs around it, between it
/// and its neighbours.
struct Drift {
    Names::Id partition = 0;
    std::int64_t since_s = 0;  // end of the first job that shows it
    std::size_t jobs_before = 0, jobs_after = 0;
    double ratio_before = 1.0, ratio_after = 1.0;
    double statistic = 0.0;
};

/// Of runs in the order of their ends, judged ones only. Each model is held against its own usual ratio, so that
/// another mix of models is no change.
std::vector<Drift> find_drift(const std::vector<const JobRun*>& runs);

}  // namespace dlcast
