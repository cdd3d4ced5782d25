// SPDX-License-Identifier: GPL-2.0-or-later
// A trace under three kinds of limits: what `dlcast simulate` compares.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "predictor/accounting/easy_backfill.h"

namespace dlcast {

/// A job of a trace. Times in seconds; negative: not told.
struct TraceJob {
    std::int64_t submit_s = 0, run_s = 0;
    std::int64_t own_limit_s = -1;                 // the user's; negative: none
    std::int64_t p50_s = -1, dlcast_limit_s = -1;  // the forecast; negative: none
    std::int32_t size = 1;
    bool timed_out = false;  // killed at its own limit
};

struct TracePool {
    std::vector<TraceJob> jobs;
    std::int64_t capacity = 0;  // GPUs or processors; 0: as many as the trace had in use at once
};

/// Forecasts for jobs that have none: log-normal around the run time. `rel_sd` is the relative standard deviation of
/// forecasts, limits keep `kill_rate` and are rounded up to `round_up_s`.
struct MadeUpForecasts {
    double rel_sd = 0.2, kill_rate = 0.01;
    std::int64_t round_up_s = 900;
    std::uint64_t seed = 1;
};
void make_up_forecasts(std::vector<TraceJob>& jobs, const MadeUpForecasts& how);

enum class LimitKind {
    users,   // the users' own limits
    dlcast,  // dlcast's, to plan with and to kill at
    soft,    // planned with the median, killed at dlcast's limit (Slurm >= 23.11: time_min_as_soft_limit)
};
constexpr LimitKind limit_kinds[] = {LimitKind::users, LimitKind::dlcast, LimitKind::soft};
const char* to_string(LimitKind kind);

/// A job without a forecast keeps its user's limit; one without that either is planned with the longest limit of the
/// trace and never killed.
SimulationResult run_scenario(const TracePool& pool, LimitKind kind);

/// The most that was in use at once, job i from start_s[i] on; 0 for no jobs.
std::int64_t most_in_use(const std::vector<TraceJob>& jobs, const std::vector<std::int64_t>& start_s);

}  // namespace dlcast
