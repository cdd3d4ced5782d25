// SPDX-License-Identifier: GPL-2.0-or-later
// What limits did to finished jobs, and how near forecasts came.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "predictor/accounting/job_run.h"

namespace dlcast {

/// Judged jobs under limits of one kind. GPU-hours count every GPU of a job.
struct LimitOutcome {
    std::int64_t jobs = 0;       // whose end under these limits is known
    std::int64_t killed = 0;     // of those
    std::int64_t unlimited = 0;  // of those: no limit, in no sum of hours
    std::int64_t unknown = 0;    // killed at a shorter limit than this one, or no such limit is known: not in `jobs`
    double asked_gpu_h = 0.0, used_gpu_h = 0.0;

    /// The run under `limit_s` (no_limit, unknown_limit or seconds) instead of its own.
    void add(const JobRun& run, std::int64_t limit_s);
    double kill_rate() const { return jobs > 0 ? static_cast<double>(killed) / static_cast<double>(jobs) : 0.0; }
    double asked_over_used() const { return used_gpu_h > 0 ? asked_gpu_h / used_gpu_h : 0.0; }
};

/// Of jobs that came to their end: run time T against the median p50.
class ForecastErrors {
public:
    void add(const JobRun& run);

    struct Figures {
        std::int64_t jobs = 0;  // completed
        double mape_pct = 0.0, median_ape_pct = 0.0;
        double median_ratio = 1.0;  // T / p50
        // Share of jobs below the median, and below the 95 % quantile. Jobs killed beyond that quantile count as above;
        // those killed before it are in neither.
        std::int64_t covered_jobs = 0;
        double below_p50 = 0.0, below_p95 = 0.0;
    };
    Figures figures() const;

private:
    std::vector<float> ratios_;
    double ape_sum_ = 0.0;
    std::int64_t covered_ = 0, below_p50_ = 0, below_p95_ = 0;
};

/// The 95 % interval of a share: Wilson, J. Am. Stat. Assoc. 22 (1927) 209-212. {0, 1} of none.
struct Interval {
    double low = 0.0, high = 1.0;
};
Interval share_interval(std::int64_t hits, std::int64_t of);

/// Did dlcast set the limit that the job ran under? Slurm keeps limits in minutes.
bool limit_is_ours(const JobRun& run);
/// Some limit that is neither the user's nor ours: somebody changed it after the submission.
bool limit_was_changed(const JobRun& run);

/// The limit the job would have had without dlcast: what its user asked for, else the partition's. `partition_limits_s`
/// by name; unknown_limit where nothing tells.
std::int64_t own_limit_s(const JobRun& run, const std::map<Names::Id, std::int64_t>& partition_limits_s);

}  // namespace dlcast
