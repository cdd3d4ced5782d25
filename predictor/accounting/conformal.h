// SPDX-License-Identifier: GPL-2.0-or-later
// From finished jobs to the margin that keeps a kill rate: split-conformal prediction with the score
//     z = ln(T / median) / sd(ln T of the forecast),
// whatever the law of T. Source: Lei, G'Sell, Rinaldo, Tibshirani & Wasserman, J. Am. Stat. Assoc. 113 (2018)
// 1094-1111.
#pragma once

#include <optional>
#include <vector>

#include "predictor/accounting/job_run.h"
#include "predictor/job/margins.h"

namespace dlcast {

/// `killed`: the job ended at its limit, so that its score is at least this.
struct Score {
    double z = 0.0;
    bool killed = false;
};
Score score_of(const JobRun& run);

/// The margin that a new job of the same kind exceeds with probability `kill_rate` at most. Scores of killed jobs are
/// censored (Kaplan & Meier, J. Am. Stat. Assoc. 53 (1958) 457-481); where so many were killed that the quantile lies
/// beyond what was seen, the line through the median and the highest quantile seen is followed in normal scores.
/// Nothing below (1 - rate) / rate jobs, where no finite margin can promise the rate, and where half were killed.
std::optional<double> conformal_margin(std::vector<Score> scores, double kill_rate);

/// Jobs that a group of its own needs: five kills expected.
std::int64_t least_group_jobs(double kill_rate);

/// Margins of all jobs, of partitions, classes and partitions' classes with enough jobs. Runs that are not judged
/// (is_judged) are passed over. No row at all where even all jobs are too few.
Margins calibrate(const std::vector<const JobRun*>& runs, const Names& names, double kill_rate, std::int64_t now_s);

}  // namespace dlcast
