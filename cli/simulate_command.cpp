// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast simulate`: a trace through EASY backfill, with users' limits, dlcast's, and dlcast's soft and hard pair.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "cli/commands.h"
#include "cli/counted.h"
#include "cli/durations.h"
#include "cli/gpu_hours_output.h"
#include "cli/number_option.h"
#include "cli/trace_reader.h"
#include "predictor/base/json.h"
#include "predictor/base/text.h"

namespace dlcast {
namespace {

struct SimulateOptions {
    std::string trace_file;
    std::vector<std::string> partitions, capacities;
    MadeUpForecasts made_up;
    int round_up_min = 15;
    bool make_up = false, json = false;
};

// The count of "a100=16" or "128".
std::optional<std::int64_t> capacity_of(const std::string& text) {
    const auto equals = text.rfind('=');
    const auto count = parse_integer(equals == std::string::npos ? text : text.substr(equals + 1));
    if (!count || *count < 1 || *count > 1'000'000'000) return std::nullopt;
    return count;
}

CLI::Validator capacity() {
    const auto check = [](std::string& text) -> std::string {
        if (capacity_of(text)) return "";
        return fmt::format("\"{}\" should be a number of GPUs from 1 to 1000000000, or PARTITION=GPUS",
                           one_line(text, 60));
    };
    return CLI::Validator(check, "");
}

// "a100=16" for a partition, "128" for all.
Status set_capacities(const std::vector<std::string>& given, Trace& trace) {
    for (const std::string& text : given) {
        const auto equals = text.rfind('=');
        bool found = equals == std::string::npos;
        for (auto& [name, pool] : trace.pools)
            if (equals == std::string::npos || name == text.substr(0, equals))
                pool.capacity = *capacity_of(text), found = true;
        if (!found)
            return invalid_argument(fmt::format("--capacity {}: no job of the trace ran in that partition", text));
    }
    for (const auto& [name, pool] : trace.pools)
        if (pool.capacity <= 0)
            return invalid_argument(
                "the trace does not say how many processors there are (; MaxProcs:); add --capacity N");
    return ok();
}

bool has_forecast(const TraceJob& job) { return job.p50_s >= 0; }

Value result_json(LimitKind kind, const SimulationResult& r) {
    Value out = Value::object();
    const auto put = [&](const char* key, double value) { out.set(key, rounded_h(value)); };
    out.set("limits", to_string(kind));
    out.set("jobs", r.jobs);
    out.set("killed", r.killed);
    out.set("unknown_jobs", r.unknown);
    out.set("too_large_jobs", r.too_large);
    put("mean_wait_s", r.mean_wait_s);
    put("median_wait_s", r.median_wait_s);
    put("p95_wait_s", r.p95_wait_s);
    put("mean_bounded_slowdown", r.mean_bounded_slowdown);
    put("utilisation", r.utilisation);
    put("used_gpu_h", r.used_h);
    put("killed_gpu_h", r.killed_h);
    out.set("asked_over_used", r.asked_over_used > 0 ? Value(rounded_h(r.asked_over_used)) : Value());
    return out;
}

std::string result_text(LimitKind kind, const SimulationResult& r) {
    const char* names[] = {"users' limits", "dlcast's limits", "dlcast's soft limits"};
    const auto waits = format_durations({r.mean_wait_s, r.median_wait_s, r.p95_wait_s});
    return fmt::format("  {:<20} {:>10} {:>10} {:>10} {:>9.1f} {:>7.2f} % {:>8} {:>11} {:>10}\n",
                       names[static_cast<int>(kind)], waits[0], waits[1], waits[2], r.mean_bounded_slowdown,
                       100 * r.utilisation, r.killed, format_hours(r.killed_h),
                       r.asked_over_used > 0 ? fmt::format("{:.3f}", r.asked_over_used) : "-");
}

Status run_simulate(SimulateOptions& options) {
    Calendar calendar;
    AccountingOptions filter;
    filter.partitions = options.partitions;
    auto trace = read_trace(options.trace_file, filter, calendar);
    if (!trace) return trace.error();
    if (auto s = set_capacities(options.capacities, *trace); !s) return s;
    const char* unit = trace->format == TraceFormat::swf ? "processors" : "GPUs";
    options.made_up.round_up_s = options.round_up_min * 60;
    Value out = Value::object();
    out.set("left_out_jobs", static_cast<std::int64_t>(trace->left_out));
    Value& pools = out.set("partitions", Value::array());
    std::string text;
    for (auto& [name, pool] : trace->pools) {
        const auto with = std::count_if(pool.jobs.begin(), pool.jobs.end(), has_forecast);
        const auto jobs = static_cast<std::int64_t>(pool.jobs.size());
        const bool makes_up = with < jobs && (options.make_up || trace->format == TraceFormat::swf);
        if (makes_up) make_up_forecasts(pool.jobs, options.made_up);
        Value entry = Value::object();
        entry.set("partition", name.empty() ? Value() : Value(name));
        entry.set("capacity", pool.capacity);
        entry.set("jobs_with_forecast", static_cast<std::int64_t>(with));
        entry.set("jobs_with_made_up_forecast", makes_up ? jobs - with : 0);
        Value& results = entry.set("results", Value::array());
        text += fmt::format(
            "{}{} {}, {}, {} with a forecast{}\n", name.empty() ? "" : "partition " + name + ": ", pool.capacity, unit,
            counted(jobs, "job"), with,
            makes_up ? fmt::format(", the others with made-up ones of {:g} % error", 100 * options.made_up.rel_sd)
                     : "");
        text += fmt::format("  {:<20} {:>10} {:>10} {:>10} {:>9} {:>9} {:>8} {:>11} {:>10}\n", "", "mean wait",
                            "median", "95 %", "slowdown", "in use", "killed", "h killed", "asked/used");
        for (const LimitKind kind : limit_kinds) {
            const SimulationResult result = run_scenario(pool, kind);
            results.push(result_json(kind, result));
            text += result_text(kind, result);
            if (result.unknown > 0)
                text += fmt::format("    {} killed that would have gone on, nobody knows how long\n",
                                    counted(result.unknown, "job", "was", "were"));
            if (result.too_large > 0)
                text += fmt::format("    {} larger than all {}\n", counted(result.too_large, "job", "is", "are"), unit);
        }
        pools.push(std::move(entry));
    }
    if (trace->left_out > 0)
        text += fmt::format("{} left out: no job that ran{}\n", counted(trace->left_out, "row", "was", "were"),
                            trace->format == TraceFormat::sacct ? " on GPUs" : "");
    fmt::print("{}", options.json ? write_json(out, 2) + "\n" : text);
    return ok();
}

}  // namespace

void add_simulate(CLI::App& app, int& exit_code) {
    CLI::App* verb = app.add_subcommand("simulate", "A trace through EASY backfill: users' limits against dlcast's");
    const auto options = std::make_shared<SimulateOptions>();
    verb->add_option("TRACE", options->trace_file, "Output of sacct, or a Standard Workload Format file; plain or .gz")
        ->required();
    verb->add_option("-p,--partition", options->partitions, "Only these partitions")->type_name("NAME");
    verb->add_option("--capacity", options->capacities,
                     "GPUs (SWF: processors): N, or PARTITION=N,...; the most in use at once otherwise (SWF: MaxProcs)")
        ->type_name("N")
        ->delimiter(',')
        ->check(capacity());
    CLI::Option* error =
        verb->add_option("--error-sd", options->made_up.rel_sd,
                         "Make up forecasts of this relative error for jobs that have none; SWF traces: 0.2")
            ->check(number_between(0.0, 2.0))
            ->type_name("SHARE");
    verb->add_option("--kill-rate", options->made_up.kill_rate, "Of made-up limits; 0.01 otherwise")
        ->check(number_between(0.0001, 0.5))
        ->type_name("SHARE");
    verb->add_option("--round-up-min", options->round_up_min, "Made-up limits are multiples of this; 15 otherwise")
        ->transform(whole_number(1, 1440))
        ->type_name("MIN");
    verb->add_option("--seed", options->made_up.seed, "Of made-up forecasts")
        ->type_name("N")
        ->transform(whole_number(0, largest_seed));
    verb->add_flag("--json", options->json, "Print one JSON object");
    verb->callback([options, error, &exit_code] {
        options->make_up = error->count() > 0;
        const Status done = run_simulate(*options);
        exit_code = done ? exit_done : report(done.error());
    });
}

}  // namespace dlcast
