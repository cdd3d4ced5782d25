// SPDX-License-Identifier: GPL-2.0-or-later
// The whole job: start-up, steps, validation, checkpoints and tail, with quantiles.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "predictor/base/result.h"
#include "predictor/job/job_costs.h"
#include "predictor/step/step_estimate.h"

namespace dlcast {

/// Each part in seconds (medians); run time quantiles of the sum; GPU-hours count all GPUs of the allocation.
struct JobForecast {
    double startup_s = 0.0;         // container, imports
    double initialization_s = 0.0;  // process groups of all ranks
    double staging_s = 0.0;         // data set to the nodes
    double warmup_s = 0.0;          // first steps, compilation
    double training_s = 0.0, validation_s = 0.0, checkpoint_s = 0.0;
    double tail_s = 0.0;
    double steps = 0.0;
    double p50_s = 0.0, p95_s = 0.0;
    double log_sd = 0.0;
    int gpus = 1;
    double quantile_s(double q) const;  // 0 < q < 1
    double gpu_hours(double seconds) const { return gpus * seconds / 3600.0; }
};

/// Name as printed, key as in JSON, and the spread of a part by itself: the standard deviation of its seconds over
/// them, beside the spread of the step's time where the part is made of steps.
struct JobPart {
    const char* name;
    const char* key;
    double JobForecast::*seconds;
    double relative_sd;
    bool of_steps;
};
// Containers and data from a cold cache and shared storage easily take half or twice their usual time; process groups
// vary most between sites.
inline constexpr std::array<JobPart, 8> job_parts{{
    {"start-up", "startup_s", &JobForecast::startup_s, 0.5, false},
    {"process groups", "initialization_s", &JobForecast::initialization_s, 0.8, false},
    {"data staging", "staging_s", &JobForecast::staging_s, 0.5, false},
    {"first steps", "warmup_s", &JobForecast::warmup_s, 0.5, false},
    {"training", "training_s", &JobForecast::training_s, 0.0, true},
    {"validation", "validation_s", &JobForecast::validation_s, 0.2, true},
    {"checkpoints", "checkpoint_s", &JobForecast::checkpoint_s, 0.5, false},
    {"tail", "tail_s", &JobForecast::tail_s, 0.5, false},
}};

/// Nothing where the workload declares no duration (no epochs, steps or tokens, or epochs over an unknown data set).
std::optional<JobForecast> forecast_job(const Workload& workload, const StepEstimate& step,
                                        const Allocation& allocation, const JobCosts& costs);
/// Optimizer steps of the declared duration; nothing where it is not declared.
std::optional<double> total_steps(const Workload& workload, double samples_per_step);
/// What a declaration lacks for a duration, for messages where total_steps gives nothing; with what to add, as options
/// of `dlcast` or as those of sbatch.
enum class OptionsOf { dlcast, sbatch };
std::string missing_duration(const Workload& workload, OptionsOf program);

}  // namespace dlcast
