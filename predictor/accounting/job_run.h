// SPDX-License-Identifier: GPL-2.0-or-later
// One run of one job as Slurm accounts for it: an array task, a component of a heterogeneous job, or one of the runs of
// a requeued job. Small, since a year of a site has a million.
#pragma once

#include <cstdint>
#include <string_view>

#include "predictor/accounting/names.h"

namespace dlcast {

enum class RunState : std::uint8_t {
    pending,
    running,  // also completing, suspended, configuring
    completed,
    timeout,
    failed,
    out_of_memory,
    cancelled,
    preempted,
    node_fail,
    requeued,
    other,  // DEADLINE, REVOKED and what later versions bring
};
constexpr int run_states = 11;

/// Of Slurm's word: "COMPLETED", "CANCELLED by 1000", "PENDING".
RunState parse_run_state(std::string_view text);
const char* to_string(RunState state);

/// What stands in a job's admin_comment.
enum class CommentKind : std::uint8_t {
    none,
    forecast,
    foreign,  // text of others, no word of dlcast
    broken,   // a forecast that is cut off, of an unknown version, or lacks its times
};

constexpr std::int64_t no_limit = -1;       // UNLIMITED
constexpr std::int64_t unknown_limit = -2;  // not told, or "Partition_Limit"

struct JobRun {
    RunState state = RunState::other;
    CommentKind comment = CommentKind::none;
    bool interrupted_before = false;  // an earlier run of the job was requeued, preempted or lost its node
    Names::Id account = 0, user = 0, partition = 0;
    Names::Id gpu = 0;       // GRES type; of a job with two, both ("a100+t4"); empty: not told
    std::uint64_t job = 0;   // hash of its number, equal for all runs of one job
    std::int32_t tasks = 1;  // array tasks this row stands for; more than one while pending
    std::int32_t gpus = 0;   // of one task
    std::int32_t nodes = 0;  // 0: not told
    float billing = 0.0F;    // billing units of one task, by the partition's weights
    std::int64_t submit_s = 0, start_s = 0, end_s = 0;  // since the epoch; 0: not known
    std::int64_t elapsed_s = 0;                         // without suspensions
    std::int64_t limit_s = unknown_limit;

    // The forecast, where comment is CommentKind::forecast.
    Names::Id model = 0, forecast_partition = 0, forecast_gpu = 0, weights = 0;
    std::int32_t forecast_gpus = 0, forecast_nodes = 0;  // 0: not told
    double p50_s = 0.0, p95_s = 0.0;
    std::int64_t forecast_limit_s = unknown_limit;  // what dlcast gave, or would have given
    std::int64_t asked_s = unknown_limit;           // the user's own: unknown_limit: none was asked for, or not told

    bool has_forecast() const { return comment == CommentKind::forecast; }
};

/// Did the job keep the GPUs, nodes and partition that its forecast is about?
enum class Change : std::uint8_t { none, gpus, nodes, partition };
Change change_of(const JobRun& run);
/// Its run time says how good the forecast was: it came to its end or to its limit, unchanged, in one run.
bool is_judged(const JobRun& run);

}  // namespace dlcast
