// SPDX-License-Identifier: GPL-2.0-or-later
// The one object behind the plugin and the command line: configuration, catalog, cluster and model, opened once and
// reloaded when their files change.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/device/catalog.h"
#include "predictor/job/job_forecast.h"
#include "predictor/job/site_config.h"

namespace dlcast {

/// What a submission asks for, in Slurm's terms. Absent numbers are -1, absent text is empty.
struct SubmitRequest {
    std::string payload;
    std::string partition;             // as given with -p, may be a list
    std::int64_t time_limit_min = -1;  // -1: not given; 0: UNLIMITED asked
    std::int64_t time_min_min = -1;    // --time-min
    std::int64_t min_nodes = -1, max_nodes = -1;
    std::int64_t num_tasks = -1, ntasks_per_node = -1, ntasks_per_socket = -1, ntasks_per_gpu = -1;
    std::int64_t sockets_per_node = -1;
    std::int64_t min_cpus = -1, cpus_per_task = -1, min_cpus_per_node = -1;
    std::int64_t memory_per_node_MiB = -1, memory_per_cpu_MiB = -1;
    std::int64_t deadline_s = -1;  // until --deadline
    bool names_nodes = false;      // --nodelist, --exclude or --reservation: where it runs is said already
    bool exclusive = false;        // whole nodes
    std::string tres_per_job, tres_per_node, tres_per_task, tres_per_socket;
    std::string features;  // --constraint
    std::string account, qos;
    std::string array;          // --array text: "0-9%3"
    std::string admin_comment;  // what is there already
    std::uint32_t user_id = 0;  // the job's owner
    std::string script;         // of a heterogeneous job's first component; else empty
};

/// What Slurm is told. `pass`: nothing changes. `set`: the fields below that are not empty or -1 are written. `reject`:
/// the submission is refused with `message`.
struct Verdict {
    enum class Action { pass, set, reject };
    enum class Fault { none, no_forecast, no_duration, gpu_request, no_place, memory, time, budget };  // of a rejection
    Action action = Action::pass;
    Fault fault = Fault::none;
    std::int64_t time_limit_min = -1;
    std::int64_t time_min_min = -1;  // beside the limit, where the site plans with soft limits
    std::string partition;
    std::string admin_comment;             // the whole new text
    std::vector<std::string> environment;  // NAME=value for a batch job
    std::string message;                   // lines for the user, without "sbatch:"
    std::string log;                       // one line for slurmctld's log; empty: nothing to say
    bool log_is_error = false;
};

/// One candidate's answer.
struct Candidate {
    Allocation allocation;
    StepEstimate step;
    std::optional<JobForecast> job;
    bool fits_memory = true;
    bool fits_time = true;
    std::int64_t limit_min = -1;
    std::string limit_keeps;      // "kill rate 1 %"; empty: the limit is the site's quantile x margin_factor
    std::string limit_capped_by;  // "partition's MaxTime"; empty: the limit is the forecast's own
    std::string reason;           // why not, where it does not fit
};

struct ForecasterPaths {
    std::string config;   // dlcast.toml
    std::string module;   // dlcast_torch.so
    std::string weights;  // overrides the configuration's, if not empty
};

class Forecaster {
public:
    /// Never fails: what is missing or broken is noted in `log` lines and degraded (no configuration: every submission
    /// passes; no module or weights: the analytic model).
    explicit Forecaster(ForecasterPaths paths);
    ~Forecaster();

    /// Reads files again whose mtime or size changed; a broken new file keeps the old one. Returns log lines, each
    /// once.
    std::vector<std::string> reload_if_changed();

    /// The plugin's path. Never throws; safe from several threads.
    Verdict submit(const SubmitRequest& request) const noexcept;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace dlcast
