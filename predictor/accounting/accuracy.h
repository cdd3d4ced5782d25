// SPDX-License-Identifier: GPL-2.0-or-later
// Forecasts against what came: the figures of `dlcast report`.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "predictor/accounting/calendar.h"
#include "predictor/accounting/conformal.h"
#include "predictor/accounting/drift.h"
#include "predictor/accounting/outcome.h"

namespace dlcast {

/// Ended GPU jobs of the window by what may be learnt from them.
struct RunCounts {
    std::array<std::int64_t, run_states> by_state{};  // with a forecast
    std::int64_t ended = 0;                           // with GPUs, with or without a forecast
    std::int64_t without_forecast = 0, foreign_comment = 0, broken_forecast = 0;
    // Of those that completed or timed out with a forecast, what is not judged, the first reason that holds:
    std::int64_t interrupted = 0, gpus_changed = 0, nodes_changed = 0, moved = 0, no_time = 0;
    std::int64_t judged = 0;
    std::int64_t limit_changed = 0;  // judged, under a limit that somebody wrote later
};

struct JudgedGroup {
    LimitOutcome limits;  // as they ran
    ForecastErrors errors;
};

/// One week, from Monday.
struct Period {
    LimitOutcome all, ours;  // jobs under any limit; under dlcast's
    std::int64_t covered = 0, below_p95 = 0;
};

/// What enforcing would have changed for jobs that ran under a limit of their own.
struct Rollout {
    std::int64_t jobs = 0;
    std::int64_t would_be_killed = 0;    // completed beyond dlcast's limit
    std::int64_t would_have_longer = 0;  // timed out under a shorter limit than dlcast's
    double saved_gpu_h = 0.0;            // reservation: their limits less dlcast's, where those are shorter
    double added_gpu_h = 0.0;            // the reverse
};

struct Accuracy {
    RunCounts counts;
    JudgedGroup total;
    std::map<Names::Id, JudgedGroup> by_model, by_partition, by_user;
    LimitOutcome as_run, ours;           // all judged jobs; those under dlcast's limits
    LimitOutcome if_ours, if_users_own;  // had all had dlcast's limits, or those without dlcast
    Rollout rollout;
    std::map<std::int64_t, Period> weeks;  // by their beginning
    std::vector<Drift> drift;
    Margins margins;  // for the kill rate asked for; from jobs since the last change of their partition
};

/// `runs` are ended runs with GPUs, in any order; they get their `interrupted_before`.
/// `kill_rate` 0: no margins.
Accuracy judge(std::deque<JobRun>& runs, const Names& names,
               const std::map<Names::Id, std::int64_t>& partition_limits_s, double kill_rate, std::int64_t now_s,
               Calendar& calendar);

}  // namespace dlcast
