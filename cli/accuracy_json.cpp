// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/accuracy_json.h"

#include <cmath>

#include "cli/gpu_hours_output.h"

namespace dlcast {
namespace {

// Shares and ratios with the digits that a million jobs can give.
double digits(double value) { return std::round(value * 1e6) / 1e6; }

Value limits_json(const LimitOutcome& l) {
    Value out = Value::object();
    out.set("jobs", l.jobs);
    out.set("killed", l.killed);
    out.set("kill_rate", l.jobs > 0 ? Value(digits(l.kill_rate())) : Value());
    out.set("unlimited_jobs", l.unlimited);
    out.set("unknown_jobs", l.unknown);
    out.set("asked_gpu_h", rounded_h(l.asked_gpu_h));
    out.set("used_gpu_h", rounded_h(l.used_gpu_h));
    out.set("asked_over_used", l.used_gpu_h > 0 ? Value(digits(l.asked_over_used())) : Value());
    return out;
}

Value errors_json(const ForecastErrors& errors) {
    const auto f = errors.figures();
    Value out = Value::object();
    const auto of = [](bool any, double value) { return any ? Value(digits(value)) : Value(); };
    out.set("completed_jobs", f.jobs);
    out.set("mape_pct", of(f.jobs > 0, f.mape_pct));
    out.set("median_ape_pct", of(f.jobs > 0, f.median_ape_pct));
    out.set("median_actual_over_forecast", of(f.jobs > 0, f.median_ratio));
    out.set("coverage_jobs", f.covered_jobs);
    out.set("below_p50", of(f.covered_jobs > 0, f.below_p50));
    out.set("below_p95", of(f.covered_jobs > 0, f.below_p95));
    return out;
}

Value groups_json(const std::map<Names::Id, JudgedGroup>& groups, const Names& names) {
    std::map<std::string, const JudgedGroup*> sorted;
    for (const auto& [id, group] : groups) sorted[names.at(id)] = &group;
    Value out = Value::array();
    for (const auto& [name, group] : sorted) {
        Value entry = Value::object();
        entry.set("name", name);
        entry.set("limits", limits_json(group->limits));
        entry.set("errors", errors_json(group->errors));
        out.push(std::move(entry));
    }
    return out;
}

Value counts_json(const RunCounts& c) {
    Value out = Value::object();
    out.set("ended_jobs", c.ended);
    out.set("without_forecast", c.without_forecast);
    out.set("foreign_comment", c.foreign_comment);
    out.set("broken_forecast", c.broken_forecast);
    Value& states = out.set("by_state", Value::object());
    for (int i = 0; i < run_states; ++i)
        if (const auto state = static_cast<RunState>(i); state != RunState::pending && state != RunState::running)
            states.set(to_string(state), c.by_state[static_cast<std::size_t>(i)]);
    Value& left_out = out.set("not_judged", Value::object());
    left_out.set("interrupted", c.interrupted);
    left_out.set("gpus_changed", c.gpus_changed);
    left_out.set("nodes_changed", c.nodes_changed);
    left_out.set("other_partition", c.moved);
    left_out.set("no_time", c.no_time);
    out.set("judged", c.judged);
    out.set("limit_changed_later", c.limit_changed);
    return out;
}

Value contract_json(const AccuracyAnswer& a) {
    const LimitOutcome& ours = a.accuracy.ours;
    Value out = Value::object();
    out.set("kill_rate", a.kill_rate);
    out.set("jobs", ours.jobs);
    out.set("killed", ours.killed);
    out.set("actual_kill_rate", digits(ours.kill_rate()));
    const Interval interval = share_interval(ours.killed, ours.jobs);
    out.set("interval_low", digits(interval.low));
    out.set("interval_high", digits(interval.high));
    // Broken is what chance does not explain.
    out.set("holds", ours.jobs > 0 ? Value(interval.low <= a.kill_rate) : Value());
    return out;
}

Value weeks_json(const Accuracy& accuracy, const Calendar& calendar) {
    Value out = Value::array();
    for (const auto& [begin_s, week] : accuracy.weeks) {
        Value entry = Value::object();
        entry.set("week_of", calendar.date(begin_s));
        entry.set("limits", limits_json(week.all));
        entry.set("dlcast_limits", limits_json(week.ours));
        entry.set("below_p95",
                  week.covered > 0
                      ? Value(digits(static_cast<double>(week.below_p95) / static_cast<double>(week.covered)))
                      : Value());
        out.push(std::move(entry));
    }
    return out;
}

Value drift_json(const AccuracyAnswer& a, const Calendar& calendar) {
    Value out = Value::array();
    for (const Drift& d : a.accuracy.drift) {
        Value entry = Value::object();
        entry.set("partition", a.names.at(d.partition));
        entry.set("since", calendar.moment(d.since_s));
        entry.set("jobs_before", static_cast<std::int64_t>(d.jobs_before));
        entry.set("jobs_after", static_cast<std::int64_t>(d.jobs_after));
        entry.set("actual_over_forecast_before", digits(d.ratio_before));
        entry.set("actual_over_forecast_after", digits(d.ratio_after));
        entry.set("statistic", digits(d.statistic));
        out.push(std::move(entry));
    }
    return out;
}

Value margins_json(const Margins& margins) {
    Value out = Value::array();
    for (const Margin& row : margins.rows) {
        Value entry = Value::object();
        entry.set("partition", row.partition.empty() ? Value() : Value(row.partition));
        entry.set("model_class", row.model_class.empty() ? Value() : Value(row.model_class));
        entry.set("jobs", row.jobs);
        entry.set("deviations", digits(row.deviations));
        out.push(std::move(entry));
    }
    return out;
}

Value rollout_json(const Rollout& r) {
    Value out = Value::object();
    out.set("jobs", r.jobs);
    out.set("would_be_killed", r.would_be_killed);
    out.set("would_have_longer", r.would_have_longer);
    out.set("saved_gpu_h", rounded_h(r.saved_gpu_h));
    out.set("added_gpu_h", rounded_h(r.added_gpu_h));
    return out;
}

}  // namespace

Value accuracy_json(const AccuracyAnswer& a, const Calendar& calendar) {
    const Accuracy& accuracy = a.accuracy;
    Value out = Value::object();
    Value& window = out.set("window", Value::object());
    window.set("begin", calendar.moment(a.window.begin_s));
    window.set("end", calendar.moment(a.window.end_s));
    out.set("counts", counts_json(accuracy.counts));
    Value& limits = out.set("limits", Value::object());
    limits.set("as_run", limits_json(accuracy.as_run));
    limits.set("set_by_dlcast", limits_json(accuracy.ours));
    limits.set("if_all_dlcast", limits_json(accuracy.if_ours));
    limits.set("if_without_dlcast", limits_json(accuracy.if_users_own));
    out.set("errors", errors_json(accuracy.total.errors));
    out.set("rollout", rollout_json(accuracy.rollout));
    out.set("contract", a.kill_rate > 0 ? contract_json(a) : Value());
    out.set("margins", margins_json(accuracy.margins));
    out.set("drift", drift_json(a, calendar));
    Value& by = out.set("by", Value::object());
    by.set("model", groups_json(accuracy.by_model, a.names));
    by.set("partition", groups_json(accuracy.by_partition, a.names));
    by.set("user", groups_json(accuracy.by_user, a.names));
    out.set("weeks", weeks_json(accuracy, calendar));
    out.set("skipped", skipped_json(a.skipped));
    return out;
}

}  // namespace dlcast
