// SPDX-License-Identifier: GPL-2.0-or-later
// The whole job: start-up + steps + validation + checkpoints, with quantiles.
#pragma once

#include <optional>
#include <string>

#include "predictor/base/result.h"
#include "predictor/step/step_estimate.h"

namespace dlcast {

/// Site figures of what surrounds the steps ([job] in dlcast.toml).
struct JobCosts {
    double startup_s = 60.0;            // container, imports, process groups, first batch
    double checkpoint_write_Bps = 1e9;  // storage rate of one job
    double log_sd = 0.10;               // node, storage and neighbour noise of a whole job
};

/// Each part in seconds (medians); run time quantiles of the sum; GPU-hours count all GPUs of the allocation.
struct JobForecast {
    double startup_s = 0.0, training_s = 0.0, validation_s = 0.0, checkpoint_s = 0.0;
    double steps = 0.0;
    double p50_s = 0.0, p95_s = 0.0;
    double log_sd = 0.0;
    int gpus = 1;
    double quantile_s(double q) const;  // 0 < q < 1
    double gpu_hours(double seconds) const { return gpus * seconds / 3600.0; }
};

/// Nothing where the workload declares no duration (no epochs, steps or tokens, or epochs over an unknown data set).
std::optional<JobForecast> forecast_job(const Workload& workload, const StepEstimate& step,
                                        const Allocation& allocation, const JobCosts& costs);
/// Optimizer steps of the declared duration; nothing where it is not declared.
std::optional<double> total_steps(const Workload& workload, double samples_per_step);
/// What a declaration lacks for a duration, with the remedy; for messages where total_steps gives nothing.
std::string missing_duration(const Workload& workload);
/// A whole declaration of this model with a duration, in JSON, to write into a file: what a bare name cannot hold.
std::string example_with_duration(const Workload& workload);

}  // namespace dlcast
