// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/accuracy_query.h"

#include <deque>

namespace dlcast {
namespace {

// Slurm gives a job without --time the DefaultTime of its partition, else its MaxTime.
std::map<Names::Id, std::int64_t> limits_of(const Cluster* cluster, Names& names) {
    std::map<Names::Id, std::int64_t> out;
    if (cluster == nullptr) return out;
    for (const Partition& partition : cluster->partitions) {
        const std::int64_t minutes =
            partition.default_time_min >= 0 ? partition.default_time_min : partition.max_time_min;
        out[names.id(partition.name)] = minutes < 0 ? no_limit : minutes * 60;
    }
    return out;
}

}  // namespace

Result<AccuracyAnswer> ask_accuracy(const AccountingOptions& options, const Cluster* cluster, double kill_rate,
                                    Calendar& calendar) {
    const auto window = window_of(options, calendar);
    if (!window) return window.error();
    AccuracyAnswer out;
    out.window = *window;
    out.kill_rate = kill_rate;
    auto lines = open_sacct(options, *window, calendar);
    if (!lines) return lines.error();
    const RunFilter filter(options, out.names);
    std::deque<JobRun> runs;
    const auto keep = [&](const JobRun& run, const RunKey&) {
        const bool ended = run.state != RunState::pending && run.state != RunState::running && run.start_s > 0;
        if (!ended || run.end_s < window->begin_s || run.end_s >= window->end_s ||
            !filter(run.account, run.user, run.partition))
            return;
        if (run.gpus > 0)
            runs.push_back(run);
        else
            out.skipped.add_cpu(run);
    };
    if (auto s = read_sacct(std::move(*lines), out.names, calendar, out.skipped, keep); !s) return s.error();
    const auto limits = limits_of(cluster, out.names);
    out.accuracy = judge(runs, out.names, limits, kill_rate, window->now_s, calendar);
    return out;
}

}  // namespace dlcast
