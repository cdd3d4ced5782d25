// SPDX-License-Identifier: GPL-2.0-or-later
// First come, first served with EASY backfill on one pool of equal GPUs (or processors): the first waiting job gets a
// reservation at the earliest moment that the planned ends of running jobs allow; later jobs may go ahead where they do
// not delay it. Source: Mu'alem & Feitelson, IEEE Trans. Parallel Distrib. Syst. 12 (2001) 529-543.
#pragma once

#include <cstdint>
#include <vector>

namespace dlcast {

struct SimulatedJob {
    std::int64_t submit_s = 0;
    std::int64_t run_s = 0;      // what it needs
    std::int64_t planned_s = 0;  // what the scheduler plans with; a soft limit where it is below limit_s
    std::int64_t limit_s = -1;   // when it is killed; -1: never
    std::int32_t size = 1;       // GPUs
    bool end_unknown =
        false;  // it was killed after run_s in the trace: with more time it goes on for a time nobody knows
};

struct SimulationResult {
    std::int64_t jobs = 0, killed = 0;
    std::int64_t unknown = 0;    // jobs whose own limit was shorter than this one's and killed them in the trace
    std::int64_t too_large = 0;  // for the pool; left out
    double mean_wait_s = 0.0, median_wait_s = 0.0, p95_wait_s = 0.0;
    double mean_bounded_slowdown = 0.0;  // (wait + run) / max(run, 10 s), at least 1
    double utilisation = 0.0;            // of the pool, from the first submission to the last end
    double used_h = 0.0;                 // GPU-hours, killed jobs' too
    double killed_h = 0.0;               // GPU-hours of killed jobs
    double asked_h = 0.0;                // GPU-hours of limits
    double asked_over_used = 0.0;
};

/// As many waiting jobs behind the first are looked at as Slurm's bf_max_job_test has by default.
constexpr int backfill_depth = 500;

/// `jobs` in the order of their submission. A job that outlives its planned end is planned to its limit from then on,
/// or, without one, for as long again as it has run.
SimulationResult simulate_easy(const std::vector<SimulatedJob>& jobs, std::int64_t capacity);

}  // namespace dlcast
