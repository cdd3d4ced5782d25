// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/gpu_hours_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "cli/counted.h"
#include "predictor/base/text.h"

namespace dlcast {
namespace {

using Groups = std::map<std::string, GpuHours>;

std::string shown(const std::string& name) { return name.empty() ? "(none)" : one_line(name, 40); }

// Both halves of what has no forecast.
double by_limit_h(const GpuHours& g) { return g.left_limit.gpu_h + g.pending_limit.gpu_h; }
std::int64_t without_forecast(const GpuHours& g) {
    return g.running_by_limit + g.pending_by_limit + g.running_unknown + g.pending_unknown;
}

std::string with_p95(double p50, double p95) {
    return p95 > 0 ? fmt::format("{} ({})", format_hours(p50), format_hours(p95)) : "-";
}

std::string hours_or_dash(double hours) { return hours > 0 ? format_hours(hours) : "-"; }

std::string line(std::size_t width, const std::string& name, const GpuHours& g) {
    return fmt::format("{:<{}}  {:>8} {:>7} {:>7}  {:>9}  {:>17}  {:>17}  {:>12}\n", name, width, g.finished, g.running,
                       g.pending, hours_or_dash(g.spent.gpu_h + g.running_spent.gpu_h),
                       with_p95(g.left_p50.gpu_h, g.left_p95.gpu_h), with_p95(g.pending_p50.gpu_h, g.pending_p95.gpu_h),
                       hours_or_dash(by_limit_h(g)));
}

std::string table(const char* title, const Groups& groups) {
    std::size_t width = std::string_view(title).size();
    for (const auto& [name, g] : groups) width = std::max(width, shown(name).size());
    std::string out =
        fmt::format("{:<{}}  {:>8} {:>7} {:>7}  {:>9}  {:>17}  {:>17}  {:>12}\n", title, width, "finished", "running",
                    "pending", "spent", "left (95 %)", "pending (95 %)", "no forecast");
    for (const auto& [name, g] : groups) out += line(width, shown(name), g);
    return out + "\n";
}

std::string budget_text(const Budget& b, const Calendar& calendar, std::int64_t now_s) {
    std::string who = "account " + shown(b.account);
    if (!b.user.empty()) who += ", user " + shown(b.user);
    if (!b.partition.empty()) who += ", partition " + shown(b.partition);
    std::string out =
        fmt::format("{} ({}): {} h, used {} h{}, left {} h\n", who, b.tres, format_hours(b.limit_h),
                    format_hours(b.used_h), b.used_by_slurm ? "" : " in the window", format_hours(b.remaining_h()));
    const Hours after = b.after_jobs();
    out += fmt::format("  when all that runs and waits has ended: {} h (95 %: {} h)\n", format_hours(after.p50),
                       format_hours(after.p95));
    if (b.exhausted_s)
        out += *b.exhausted_s <= now_s ? std::string("  used up\n")
                                       : fmt::format("  used up on {} at {} h a day\n", calendar.date(*b.exhausted_s),
                                                     format_hours(b.per_day_h));
    if (b.fair_share) out += fmt::format("  fair share {:.3f}, shares {}\n", *b.fair_share, b.share);
    // An account has no fair share of its own, but a place among its siblings.
    if (!b.fair_share && b.level_fs)
        out += fmt::format("  shares {}: its use is {} its share (LevelFS {:.3f})\n", b.share,
                           *b.level_fs < 1 ? "above" : "below", *b.level_fs);
    return out;
}

Value hours_json(const GpuHours& g) {
    Value out = Value::object();
    out.set("finished_jobs", g.finished);
    out.set("running_jobs", g.running);
    out.set("pending_jobs", g.pending);
    out.set("spent_gpu_h", rounded_h(g.spent.gpu_h));
    out.set("running_spent_gpu_h", rounded_h(g.running_spent.gpu_h));
    const auto quantiles = [&](const char* key, const Amount& p50, const Amount& p95) {
        Value& both = out.set(key, Value::object());
        both.set("p50", rounded_h(p50.gpu_h));
        both.set("p95", rounded_h(p95.gpu_h));
    };
    quantiles("running_left_gpu_h", g.left_p50, g.left_p95);
    quantiles("pending_gpu_h", g.pending_p50, g.pending_p95);
    Value& other = out.set("without_forecast", Value::object());
    other.set("running_jobs", g.running_by_limit + g.running_unknown);
    other.set("pending_jobs", g.pending_by_limit + g.pending_unknown);
    other.set("unlimited_jobs", g.running_unknown + g.pending_unknown);
    other.set("running_left_limit_gpu_h", rounded_h(g.left_limit.gpu_h));
    other.set("pending_limit_gpu_h", rounded_h(g.pending_limit.gpu_h));
    return out;
}

Value groups_json(const Groups& groups) {
    Value out = Value::array();
    for (const auto& [name, g] : groups) {
        Value entry = Value::object();
        entry.set("name", name);
        const Value hours = hours_json(g);
        for (const Value::Member& member : hours.as_object()) entry.set(member.key, member.value);
        out.push(std::move(entry));
    }
    return out;
}

Value budget_json(const Budget& b, const Calendar& calendar) {
    Value out = Value::object();
    const auto pair = [&](const char* key, const Hours& hours) {
        Value& both = out.set(key, Value::object());
        both.set("p50", rounded_h(hours.p50));
        both.set("p95", rounded_h(hours.p95));
    };
    out.set("account", b.account);
    out.set("user", b.user.empty() ? Value() : Value(b.user));
    out.set("partition", b.partition.empty() ? Value() : Value(b.partition));
    out.set("tres", b.tres);
    out.set("limit_h", rounded_h(b.limit_h));
    out.set("used_h", rounded_h(b.used_h));
    out.set("used_from", b.used_by_slurm ? "sshare" : "sacct");
    out.set("remaining_h", rounded_h(b.remaining_h()));
    pair("running_left_h", b.left);
    pair("pending_h", b.pending);
    out.set("without_forecast_h", rounded_h(b.without_forecast_h()));
    pair("after_jobs_h", b.after_jobs());
    out.set("rate_h_per_day", rounded_h(b.per_day_h));
    out.set("exhausted_on", b.exhausted_s ? Value(calendar.moment(*b.exhausted_s)) : Value());
    out.set("shares", b.share);
    out.set("fair_share", b.fair_share ? Value(*b.fair_share) : Value());
    out.set("level_fs", b.level_fs ? Value(*b.level_fs) : Value());
    return out;
}

const std::array<std::pair<const char*, Groups GpuHoursAnswer::*>, 4> dimensions{
    {{"account", &GpuHoursAnswer::by_account},
     {"user", &GpuHoursAnswer::by_user},
     {"partition", &GpuHoursAnswer::by_partition},
     {"gpu", &GpuHoursAnswer::by_gpu}}};

}  // namespace

double rounded_h(double hours) { return std::round(hours * 1e6) / 1e6; }

std::vector<std::string> skipped_lines(const SkippedRows& s) {
    std::vector<std::string> out;
    if (s.broken_lines > 0)
        out.push_back(fmt::format("{} not whole, the first at {}: cut off, or part of a comment",
                                  counted(s.broken_lines, "line", "is", "are"), s.first_broken));
    if (s.unreadable > 0)
        out.push_back(fmt::format("{} left out as unreadable, the first at {}",
                                  counted(s.unreadable, "row", "was", "were"), s.first_unreadable));
    if (s.runaway > 0)
        out.push_back(
            fmt::format("{} left out: running for accounting but not for squeue; see `sacctmgr show runawayjobs`",
                        counted(s.runaway, "job", "was", "were")));
    if (s.broken_comments > 0)
        out.push_back(fmt::format(
            "{} not read from admin_comment: cut off, or of another version; such a job counts as without one",
            counted(s.broken_comments, "forecast", "was", "were")));
    return out;
}

Value skipped_json(const SkippedRows& s) {
    Value out = Value::object();
    const auto put = [&](const char* key, std::size_t n) { out.set(key, static_cast<std::int64_t>(n)); };
    put("broken_lines", s.broken_lines);
    put("unreadable_rows", s.unreadable);
    put("job_steps", s.steps);
    put("runaway_jobs", s.runaway);
    put("foreign_comments", s.foreign_comments);
    put("broken_forecasts", s.broken_comments);
    out.set("cpu_jobs", s.cpu_jobs);
    out.set("cpu_jobs_with_forecast", s.cpu_forecasts);
    return out;
}

std::string cpu_jobs_text(const SkippedRows& s) {
    if (s.cpu_jobs == 0) return "";
    return fmt::format("left out: {} without GPUs, {} of them with a forecast\n", counted(s.cpu_jobs, "job"),
                       s.cpu_forecasts > 0 ? fmt::format("{}", s.cpu_forecasts) : "none");
}

std::string gpu_hours_text(const GpuHoursAnswer& a, const Calendar& calendar) {
    std::string out =
        fmt::format("GPU-hours from {} to {}\n\n", calendar.moment(a.window.begin_s), calendar.moment(a.window.end_s));
    for (const auto& [name, groups] : dimensions)
        if (!(a.*groups).empty()) out += table(name, a.*groups);
    out += table("total", {{"all", a.total}});
    const std::int64_t unlimited = a.total.running_unknown + a.total.pending_unknown;
    if (unlimited > 0)
        out += counted(unlimited, "job", "has", "have") + " neither a forecast nor a limit, and no part in any sum\n";
    if (const auto n = without_forecast(a.total); n > unlimited)
        out += fmt::format("no forecast: what {} may take by the limits\n", counted(n - unlimited, "job"));
    out += cpu_jobs_text(a.skipped);
    if (!a.by_day.empty()) {
        out += fmt::format("\n{:<10}  {:>9}  {:>9}  {:>9}\n", "day", "spent", "left", "pending");
        for (const auto& [day, h] : a.by_day)
            out += fmt::format("{:<10}  {:>9}  {:>9}  {:>9}\n", calendar.date(day), hours_or_dash(h.spent),
                               hours_or_dash(h.left), hours_or_dash(h.pending));
    }
    if (!a.budgets.empty()) out += "\n";
    for (const Budget& budget : a.budgets) out += budget_text(budget, calendar, a.window.now_s);
    return out;
}

std::string gpu_hours_columns(const GpuHoursAnswer& a) {
    std::string out =
        "Kind|Name|Finished|Running|Pending|SpentGPUHours|RunningSpentGPUHours|LeftP50GPUHours|LeftP95GPUHours|"
        "PendingP50GPUHours|PendingP95GPUHours|WithoutForecast|LeftLimitGPUHours|PendingLimitGPUHours\n";
    const auto row = [&](const char* kind, const std::string& name, const GpuHours& g) {
        out += fmt::format("{}|{}|{}|{}|{}", kind, one_line(name, 200), g.finished, g.running, g.pending);
        for (const Amount* h : {&g.spent, &g.running_spent, &g.left_p50, &g.left_p95, &g.pending_p50, &g.pending_p95})
            out += fmt::format("|{:.4f}", h->gpu_h);
        out += fmt::format("|{}|{:.4f}|{:.4f}\n", without_forecast(g), g.left_limit.gpu_h, g.pending_limit.gpu_h);
    };
    row("total", "", a.total);
    for (const auto& [kind, groups] : dimensions)
        for (const auto& [name, g] : a.*groups) row(kind, name, g);
    return out;
}

Value gpu_hours_json(const GpuHoursAnswer& a, const Calendar& calendar) {
    Value out = Value::object();
    Value& window = out.set("window", Value::object());
    window.set("begin", calendar.moment(a.window.begin_s));
    window.set("end", calendar.moment(a.window.end_s));
    window.set("at", calendar.moment(a.window.now_s));
    out.set("total", hours_json(a.total));
    Value& by = out.set("by", Value::object());
    for (const auto& [name, groups] : dimensions) by.set(name, groups_json(a.*groups));
    Value& days = by.set("day", Value::array());
    for (const auto& [day, h] : a.by_day) {
        Value entry = Value::object();
        entry.set("name", calendar.date(day));
        entry.set("spent_gpu_h", rounded_h(h.spent));
        entry.set("running_left_p50_gpu_h", rounded_h(h.left));
        entry.set("pending_p50_gpu_h", rounded_h(h.pending));
        days.push(std::move(entry));
    }
    Value& budgets = out.set("budgets", Value::array());
    for (const Budget& budget : a.budgets) budgets.push(budget_json(budget, calendar));
    out.set("skipped", skipped_json(a.skipped));
    return out;
}

}  // namespace dlcast
