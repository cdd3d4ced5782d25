// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/accuracy_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/counted.h"
#include "cli/gpu_hours_output.h"
#include "predictor/base/text.h"

namespace dlcast {
namespace {

std::string percent(double share) { return fmt::format("{:.2f} %", 100 * share); }
std::string ratio(const LimitOutcome& l) { return l.used_gpu_h > 0 ? fmt::format("{:.3f}", l.asked_over_used()) : "-"; }

std::string kill_rate(const LimitOutcome& l) { return l.jobs > 0 ? percent(l.kill_rate()) : "-"; }

std::string limits_line(const char* what, const LimitOutcome& l) {
    return fmt::format("{:<22} {:>8} {:>8} {:>9} {:>12} {:>12} {:>11} {:>8}\n", what, l.jobs, l.killed, kill_rate(l),
                       format_hours(l.asked_gpu_h), format_hours(l.used_gpu_h), ratio(l), l.unknown);
}

std::string counts_text(const RunCounts& c) {
    std::string out = fmt::format("{} on GPUs ended; {} had a forecast, {} {} judged\n", counted(c.ended, "job"),
                                  c.ended - c.without_forecast, c.judged, c.judged == 1 ? "is" : "are");
    std::vector<std::string> apart;
    const auto note = [&](std::int64_t n, const char* what) {
        if (n > 0) apart.push_back(fmt::format("{} {}", n, what));
    };
    for (const RunState state : {RunState::failed, RunState::out_of_memory, RunState::cancelled, RunState::preempted,
                                 RunState::node_fail, RunState::requeued, RunState::other})
        note(c.by_state[static_cast<std::size_t>(state)], to_string(state));
    note(c.interrupted, "ended after an interruption");
    note(c.gpus_changed, "got other GPUs than forecast");
    note(c.nodes_changed, "got other nodes than forecast");
    note(c.moved, "ran in another partition than forecast");
    note(c.no_time, "ended within a second");
    if (!apart.empty()) out += fmt::format("told apart: {}\n", fmt::join(apart, ", "));
    if (c.limit_changed > 0)
        out += fmt::format("{} of the judged ran under a limit changed after submission\n", c.limit_changed);
    if (c.broken_forecast > 0) out += counted(c.broken_forecast, "forecast") + " could not be read\n";
    return out;
}

std::string errors_text(const ForecastErrors::Figures& f) {
    if (f.jobs == 0) return "";
    return fmt::format(
        "forecast against run time, {}: median error {:.1f} %, mean {:.1f} %; a job takes {:.3f} "
        "times its forecast (median)\nbelow the median forecast {}, below the 95 % forecast {}\n",
        counted(f.jobs, "completed job"), f.median_ape_pct, f.mape_pct, f.median_ratio, percent(f.below_p50),
        percent(f.below_p95));
}

std::string groups_text(const char* title, const std::map<Names::Id, JudgedGroup>& groups, const Names& names) {
    std::vector<std::pair<std::string, const JudgedGroup*>> rows;
    for (const auto& [id, group] : groups) {
        const std::string& name = names.at(id);
        rows.emplace_back(name.empty() ? "(none)" : one_line(name, 40), &group);
    }
    std::sort(rows.begin(), rows.end());
    std::size_t width = std::string_view(title).size();
    for (const auto& [name, group] : rows) width = std::max(width, name.size());
    std::string out = fmt::format("\n{:<{}} {:>8} {:>8} {:>9} {:>12} {:>13} {:>13} {:>11}\n", title, width, "jobs",
                                  "killed", "kill rate", "median error", "actual/median", "below 95 %", "asked/used");
    for (const auto& [name, group] : rows) {
        const auto f = group->errors.figures();
        out += fmt::format("{:<{}} {:>8} {:>8} {:>9} {:>12} {:>13} {:>13} {:>11}\n", name, width, group->limits.jobs,
                           group->limits.killed, kill_rate(group->limits),
                           f.jobs > 0 ? fmt::format("{:.1f} %", f.median_ape_pct) : "-",
                           f.jobs > 0 ? fmt::format("{:.3f}", f.median_ratio) : "-",
                           f.covered_jobs > 0 ? percent(f.below_p95) : "-", ratio(group->limits));
    }
    return out;
}

std::string rollout_text(const Rollout& r) {
    if (r.jobs == 0) return "";
    std::string out = fmt::format(
        "\n{} ran under {} own; enforcing would have: killed {}, given more time to {} that timed out, saved "
        "{} GPU-hours of reservation",
        counted(r.jobs, "job"), r.jobs == 1 ? "a limit of its" : "limits of their", r.would_be_killed,
        r.would_have_longer, format_hours(r.saved_gpu_h));
    if (r.added_gpu_h > 0) out += fmt::format(", added {}", format_hours(r.added_gpu_h));
    return out + "\n";
}

std::string contract_text(const AccuracyAnswer& a) {
    if (a.kill_rate <= 0) return "";
    const LimitOutcome& ours = a.accuracy.ours;
    std::string out = fmt::format("\nkill rate promised {}; ", percent(a.kill_rate));
    if (ours.jobs == 0) {
        out += "no job has run under dlcast's limits yet\n";
    } else {
        const Interval interval = share_interval(ours.killed, ours.jobs);
        out += fmt::format("under dlcast's limits {} of {}, {} (95 % interval {} to {}): {}\n", ours.killed,
                           counted(ours.jobs, "job"), percent(ours.kill_rate()), percent(interval.low),
                           percent(interval.high), interval.low <= a.kill_rate ? "it holds" : "BROKEN");
    }
    if (a.accuracy.margins.rows.empty())
        return out +
               fmt::format("too few judged jobs for a margin; {:.0f} are needed\n", (1 - a.kill_rate) / a.kill_rate);
    out += fmt::format("{:<20} {:<20} {:>8} {:>10}\n", "margin of partition", "class", "jobs", "deviations");
    for (const Margin& row : a.accuracy.margins.rows)
        out +=
            fmt::format("{:<20} {:<20} {:>8} {:>10.3f}\n", row.partition.empty() ? "all" : one_line(row.partition, 40),
                        row.model_class.empty() ? "all" : row.model_class, row.jobs, row.deviations);
    return out;
}

std::string drift_text(const AccuracyAnswer& a, const Calendar& calendar) {
    std::string out;
    for (const Drift& d : a.accuracy.drift)
        out += fmt::format(
            "\ndrift: since {} jobs in partition {} take {:.2f} times their forecast, {:.2f} before ({} jobs after, {} "
            "before); a "
            "new driver, container or file system?\n",
            calendar.moment(d.since_s), one_line(a.names.at(d.partition), 40), d.ratio_after, d.ratio_before,
            d.jobs_after, d.jobs_before);
    return out;
}

std::string weeks_text(const Accuracy& accuracy, const Calendar& calendar) {
    if (accuracy.weeks.empty()) return "";
    std::string out = fmt::format("\n{:<10} {:>8} {:>8} {:>9} {:>15} {:>9} {:>11}\n", "week of", "jobs", "killed",
                                  "kill rate", "dlcast's limits", "kill rate", "asked/used");
    for (const auto& [begin_s, week] : accuracy.weeks)
        out += fmt::format("{:<10} {:>8} {:>8} {:>9} {:>15} {:>9} {:>11}\n", calendar.date(begin_s), week.all.jobs,
                           week.all.killed, kill_rate(week.all), week.ours.jobs, kill_rate(week.ours), ratio(week.all));
    return out;
}

}  // namespace

std::string accuracy_text(const AccuracyAnswer& a, const Calendar& calendar) {
    const Accuracy& r = a.accuracy;
    std::string out = fmt::format("jobs that ended from {} to {}\n", calendar.moment(a.window.begin_s),
                                  calendar.moment(a.window.end_s));
    out += counts_text(r.counts) + cpu_jobs_text(a.skipped);
    if (r.counts.judged == 0) return out;
    out += errors_text(r.total.errors.figures());
    out += fmt::format("\n{:<22} {:>8} {:>8} {:>9} {:>12} {:>12} {:>11} {:>8}\n", "limits", "jobs", "killed",
                       "kill rate", "asked GPU-h", "used GPU-h", "asked/used", "unknown");
    out += limits_line("as they were", r.as_run);
    out += limits_line("  those set by dlcast", r.ours);
    out += limits_line("all by dlcast", r.if_ours);
    out += limits_line("all without dlcast", r.if_users_own);
    out += rollout_text(r.rollout) + contract_text(a) + drift_text(a, calendar);
    out += groups_text("model", r.by_model, a.names) + groups_text("partition", r.by_partition, a.names) +
           groups_text("user", r.by_user, a.names);
    return out + weeks_text(r, calendar);
}

}  // namespace dlcast
