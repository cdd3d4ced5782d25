// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/accounting/accuracy.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

namespace dlcast {
namespace {

// A job that was interrupted went on from a checkpoint at best: its last run is not the whole training.
void mark_interrupted(std::deque<JobRun>& runs) {
    std::unordered_set<std::uint64_t> jobs;
    for (const JobRun& run : runs)
        if (run.state == RunState::requeued || run.state == RunState::preempted || run.state == RunState::node_fail)
            jobs.insert(run.job);
    for (JobRun& run : runs) run.interrupted_before = jobs.count(run.job) > 0;
}

void count(const JobRun& run, RunCounts& counts) {
    ++counts.ended;
    if (run.comment == CommentKind::foreign) ++counts.foreign_comment;
    if (run.comment == CommentKind::broken) ++counts.broken_forecast;
    if (!run.has_forecast()) {
        ++counts.without_forecast;
        return;
    }
    ++counts.by_state[static_cast<std::size_t>(run.state)];
    if (is_judged(run)) {
        ++counts.judged;
        if (limit_was_changed(run)) ++counts.limit_changed;
        return;
    }
    if (run.state != RunState::completed && run.state != RunState::timeout) return;
    const Change change = change_of(run);
    if (run.interrupted_before)
        ++counts.interrupted;
    else if (change == Change::gpus)
        ++counts.gpus_changed;
    else if (change == Change::nodes)
        ++counts.nodes_changed;
    else if (change == Change::partition)
        ++counts.moved;
    else
        ++counts.no_time;  // ended within its first second
}

void add(const JobRun& run, JudgedGroup& group) {
    group.limits.add(run, run.limit_s);
    group.errors.add(run);
}

void add(const JobRun& run, Period& week) {
    week.all.add(run, run.limit_s);
    if (limit_is_ours(run)) week.ours.add(run, run.limit_s);
    const bool is_below = run.state == RunState::completed && static_cast<double>(run.elapsed_s) <= run.p95_s;
    if (run.state == RunState::timeout && static_cast<double>(run.elapsed_s) < run.p95_s) return;
    ++week.covered;
    if (is_below) ++week.below_p95;
}

void add(const JobRun& run, Rollout& rollout) {
    if (limit_is_ours(run) || run.forecast_limit_s <= 0) return;
    ++rollout.jobs;
    if (run.state == RunState::completed && run.elapsed_s > run.forecast_limit_s) ++rollout.would_be_killed;
    if (run.limit_s < 0) return;
    if (run.state == RunState::timeout && run.forecast_limit_s > run.limit_s) ++rollout.would_have_longer;
    const double saved_h = run.gpus * static_cast<double>(run.limit_s - run.forecast_limit_s) / 3600;
    (saved_h > 0 ? rollout.saved_gpu_h : rollout.added_gpu_h) += std::fabs(saved_h);
}

}  // namespace

Accuracy judge(std::deque<JobRun>& runs, const Names& names,
               const std::map<Names::Id, std::int64_t>& partition_limits_s, double kill_rate, std::int64_t now_s,
               Calendar& calendar) {
    mark_interrupted(runs);
    Accuracy out;
    std::vector<const JobRun*> judged;
    for (const JobRun& run : runs) {
        count(run, out.counts);
        if (is_judged(run)) judged.push_back(&run);
    }
    std::stable_sort(judged.begin(), judged.end(),
                     [](const JobRun* a, const JobRun* b) { return a->end_s < b->end_s; });
    for (const JobRun* run : judged) {
        add(*run, out.total);
        add(*run, out.by_model[run->model]);
        add(*run, out.by_partition[run->partition]);
        add(*run, out.by_user[run->user]);
        out.as_run.add(*run, run->limit_s);
        if (limit_is_ours(*run)) out.ours.add(*run, run->limit_s);
        out.if_ours.add(*run, run->forecast_limit_s);
        out.if_users_own.add(*run, own_limit_s(*run, partition_limits_s));
        add(*run, out.rollout);
        add(*run, out.weeks[calendar.week_of(run->end_s)]);
    }
    out.drift = find_drift(judged);
    if (kill_rate <= 0) return out;
    std::map<Names::Id, std::int64_t> since;
    for (const Drift& drift : out.drift) since[drift.partition] = drift.since_s;
    std::erase_if(judged, [&](const JobRun* run) {
        const auto changed = since.find(run->partition);
        return changed != since.end() && run->end_s < changed->second;
    });
    out.margins = calibrate(judged, names, kill_rate, now_s);
    return out;
}

}  // namespace dlcast
