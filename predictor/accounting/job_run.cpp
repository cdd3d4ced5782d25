// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/accounting/job_run.h"

#include <array>
#include <utility>

namespace dlcast {
namespace {

// sacct(1), squeue(1): JOB STATE CODES.
constexpr std::array<std::pair<std::string_view, RunState>, 17> words{{
    {"COMPLETED", RunState::completed},
    {"CANCELLED", RunState::cancelled},
    {"FAILED", RunState::failed},
    {"TIMEOUT", RunState::timeout},
    {"RUNNING", RunState::running},
    {"PENDING", RunState::pending},
    {"OUT_OF_MEMORY", RunState::out_of_memory},
    {"NODE_FAIL", RunState::node_fail},
    {"BOOT_FAIL", RunState::node_fail},
    {"PREEMPTED", RunState::preempted},
    {"REQUEUED", RunState::requeued},
    {"SUSPENDED", RunState::running},
    {"COMPLETING", RunState::running},
    {"CONFIGURING", RunState::running},
    {"STOPPED", RunState::running},
    {"REQUEUE_HOLD", RunState::pending},
    {"REQUEUE_FED", RunState::pending},
}};

}  // namespace

RunState parse_run_state(std::string_view text) {
    const std::string_view word = text.substr(0, text.find(' '));
    for (const auto& [name, state] : words)
        if (word == name) return state;
    return RunState::other;
}

const char* to_string(RunState state) {
    switch (state) {
        case RunState::pending:
            return "pending";
        case RunState::running:
            return "running";
        case RunState::completed:
            return "completed";
        case RunState::timeout:
            return "timeout";
        case RunState::failed:
            return "failed";
        case RunState::out_of_memory:
            return "out_of_memory";
        case RunState::cancelled:
            return "cancelled";
        case RunState::preempted:
            return "preempted";
        case RunState::node_fail:
            return "node_fail";
        case RunState::requeued:
            return "requeued";
        case RunState::other:
            break;
    }
    return "other";
}

Change change_of(const JobRun& run) {
    if (run.forecast_gpus > 0 && run.forecast_gpus != run.gpus) return Change::gpus;
    if (run.forecast_nodes > 0 && run.nodes > 0 && run.forecast_nodes != run.nodes) return Change::nodes;
    if (run.forecast_partition != 0 && run.forecast_partition != run.partition) return Change::partition;
    return Change::none;
}

bool is_judged(const JobRun& run) {
    const bool ended = run.state == RunState::completed || run.state == RunState::timeout;
    return run.has_forecast() && ended && !run.interrupted_before && run.elapsed_s > 0 &&
           change_of(run) == Change::none;
}

}  // namespace dlcast
