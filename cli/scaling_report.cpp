// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/scaling_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/chart.h"
#include "cli/counted.h"
#include "cli/placements.h"
#include "predictor/base/text.h"

namespace dlcast {
namespace {

constexpr double bytes_per_GiB = 1 << 30;

std::string duration_words(const Training& training) {
    if (training.epochs) return fmt::format(", {:g} epoch{}", *training.epochs, *training.epochs == 1 ? "" : "s");
    if (training.steps) return ", " + counted(*training.steps, "step");
    if (training.tokens) return fmt::format(", {:g} tokens", *training.tokens);
    return "";
}

std::string title_of(const Scaling& scaling) {
    const Workload& w = scaling.workload;
    return fmt::format("{}{}{}, {}", w.model.name, w.dataset.name.empty() ? "" : ", " + w.dataset.name,
                       duration_words(w.training), to_string(w.training.precision));
}

std::int64_t steps_of(const ScalePoint& point) { return std::llround(point.candidate.job->steps); }

// How many steps the most devices take; "" where every count takes the steps that were declared.
std::string kept_samples(const Scaling& scaling) {
    const Training& training = scaling.workload.training;
    if (!training.steps || training.global_batch > 0) return "";
    const auto& curve = *std::max_element(
        scaling.curves.begin(), scaling.curves.end(),
        [](const ScaleCurve& a, const ScaleCurve& b) { return a.points.back().gpus() < b.points.back().gpus(); });
    const ScalePoint &least = curve.points.front(), &most = curve.points.back();
    if (steps_of(most) == steps_of(least)) return "";
    return fmt::format("{} on {}; the samples are kept: {} on {}", counted(steps_of(least), "step"),
                       counted(least.gpus(), unit_of(least.placement)), counted(steps_of(most), "step"), most.gpus());
}

std::string gpus_text(const ScalePoint& point) {
    const Allocation& a = point.candidate.allocation;
    return fmt::format("{} x {}{}", point.gpus(), point.placement.gres,
                       a.partition.empty() ? "" : fmt::format(" (partition {})", a.partition));
}

// "4 x a100 (partition gpu): 3 h, 12.0 GPU-hours".
std::string choice_words(const ScalePoint& point) {
    return fmt::format("{}: {}, {} {}-hours", gpus_text(point), format_duration(point.time_s),
                       format_hours(point.gpu_hours), unit_of(point.placement));
}

std::string choice_text(const char* name, const ScalePoint* point) {
    if (!point) return fmt::format("{:<9} none fits\n", name);
    return fmt::format("{:<9} {}\n", name, choice_words(*point));
}

std::string remark(const ScaleCurve& curve, std::size_t i) {
    const ScalePoint& point = curve.points[i];
    std::string out = point.candidate.fits_time ? "" : "  beyond the time limit";
    if (curve.knee == i) out += "  <- knee";
    return out;
}

std::string table(const ScaleCurve& curve) {
    const Placement& place = curve.points.front().placement;
    std::string out = fmt::format("\n{}\n{:>6} {:>6} {:>13} {:>11} {:>11} {:>10} {:>14} {:>10} {:>14}\n", curve.name,
                                  devices_name({place}), "nodes", "global batch", "step", "samples/s", "efficiency",
                                  "run time", hours_name({place}), "memory GiB");
    for (std::size_t i = 0; i < curve.points.size(); ++i) {
        const ScalePoint& point = curve.points[i];
        const StepEstimate& step = point.candidate.step;
        const double has = point.candidate.allocation.device.memory_bytes / bytes_per_GiB;
        out += fmt::format("{:>6} {:>6} {:>13.0f} {:>11} {:>11.1f} {:>8.0f} % {:>14} {:>10} {:>14}{}\n", point.gpus(),
                           point.candidate.allocation.nodes, step.samples_per_step, format_step_time(step.step_s),
                           point.samples_per_s, 100 * point.efficiency, format_duration(point.time_s),
                           format_hours(point.gpu_hours),
                           fmt::format("{:.1f} {} {:.0f}", step.memory.total_bytes() / bytes_per_GiB,
                                       point.candidate.fits_memory ? "of" : ">", has),
                           remark(curve, i));
    }
    return out;
}

struct TimeUnit {
    const char* name;
    double seconds;
};
TimeUnit unit_for(double longest_s) {
    if (longest_s > 10 * 86400) return {"days", 86400};
    if (longest_s > 2 * 3600) return {"hours", 3600};
    if (longest_s > 300) return {"minutes", 60};
    return {"seconds", 1};
}

template <typename Value>
CurvePanel panel_of(const Scaling& scaling, const std::string& title, bool logarithmic, Value value) {
    CurvePanel out{title, logarithmic, {}};
    for (const ScaleCurve& curve : scaling.curves) {
        Curve& drawn = out.curves.emplace_back(Curve{curve.name, {}});
        for (std::size_t i = 0; i < curve.points.size(); ++i)
            drawn.points.push_back({static_cast<double>(curve.points[i].gpus()), value(curve.points[i]),
                                    !curve.points[i].fits(), curve.knee == i});
    }
    return out;
}

Value point_value(const ScalePoint& point) {
    const Candidate& candidate = point.candidate;
    Value out = Value::object();
    out.set("gpus", point.gpus());
    out.set("nodes", candidate.allocation.nodes);
    out.set("samples_per_step", candidate.step.samples_per_step);
    out.set("step_ms", 1e3 * candidate.step.step_s);
    out.set("samples_per_s", point.samples_per_s);
    out.set("efficiency", point.efficiency);
    out.set("steps", candidate.job ? Value(steps_of(point)) : Value());
    out.set("time_s", point.time_s);
    out.set("p95_s", candidate.job ? Value(candidate.job->p95_s) : Value());
    set_hours(out, point.placement, point.gpu_hours);
    out.set("cost", point.cost);
    out.set("memory_bytes", candidate.step.memory.total_bytes());
    out.set("fits", point.fits());
    return out;
}

Value choice_value(const ScalePoint* point) {
    if (!point) return {};
    Value out = Value::object();
    const std::string& partition = point->candidate.allocation.partition;
    out.set("partition", partition.empty() ? Value() : Value(partition));
    out.set("gpu", point->candidate.allocation.device.name);
    out.set("gpus", point->gpus());
    out.set("time_s", point->time_s);
    set_hours(out, point->placement, point->gpu_hours);
    return out;
}

Value strings(const std::vector<std::string>& texts) {
    Value out = Value::array();
    for (const std::string& text : texts) out.push(text);
    return out;
}

}  // namespace

std::string to_text(const Scaling& scaling) {
    const char* unit = unit_of(scaling.curves.front().points.front().placement);
    std::string out = title_of(scaling) + "\n" + kept_batch(scaling.workload, unit) + "\n";
    if (scaling.workload.training.global_batch == 0)
        out += fmt::format("to keep the global batch: --set training.batch_per=global with --batch-size of all {}s\n",
                           unit);
    if (const std::string kept = kept_samples(scaling); !kept.empty()) out += kept + "\n";
    if (!scaling.has_duration) out += "no duration is declared: times are those of a million samples\n";
    for (const ScaleCurve& curve : scaling.curves) out += table(curve);
    out += fmt::format("\n{}", choice_text("fastest", scaling.fastest)) + choice_text("cheapest", scaling.cheapest);
    for (const std::string& text : scaling.left_out) out += fmt::format("left out  {}\n", text);
    for (const std::string& text : scaling.assumed) out += fmt::format("assumed   {}\n", text);
    for (const std::string& text : scaling.warnings) out += fmt::format("warning   {}\n", text);
    return out;
}

std::string to_svg(const Scaling& scaling) {
    double longest_s = 0;
    for (const ScaleCurve& curve : scaling.curves)
        for (const ScalePoint& point : curve.points) longest_s = std::max(longest_s, point.time_s);
    const TimeUnit unit = unit_for(longest_s);
    std::vector<Placement> places;
    for (const ScaleCurve& curve : scaling.curves) places.push_back(curve.points.front().placement);
    const std::vector<CurvePanel> panels{
        panel_of(scaling, fmt::format("{}, {}", scaling.has_duration ? "run time" : "a million samples", unit.name),
                 true, [&](const ScalePoint& p) { return p.time_s / unit.seconds; }),
        panel_of(scaling, "efficiency, %", false, [](const ScalePoint& p) { return 100 * p.efficiency; }),
        panel_of(scaling, hours_name(places), false, [](const ScalePoint& p) { return p.gpu_hours; })};
    std::vector<std::string> notes{
        kept_batch(scaling.workload, unit_of(scaling.curves.front().points.front().placement)) +
        fmt::format("; ring: knee, beyond it more {} win less than half of what they could; hollow: does not fit",
                    devices_name(places))};
    if (std::string kept = kept_samples(scaling); !kept.empty()) notes.push_back(std::move(kept));
    if (scaling.fastest)
        notes.push_back(
            fmt::format("fastest {}; cheapest {}", choice_words(*scaling.fastest), choice_words(*scaling.cheapest)));
    return curve_chart(title_of(scaling), devices_name(places), panels, notes);
}

Value to_value(const Scaling& scaling) {
    Value out = Value::object();
    out.set("model", scaling.workload.model.name);
    out.set("batch_kept", scaling.workload.training.global_batch > 0 ? "global" : "per_gpu");
    out.set("time_of", scaling.has_duration ? "job" : "million_samples");
    Value& curves = out.set("curves", Value::array());
    for (const ScaleCurve& curve : scaling.curves) {
        Value& entry = curves.push(Value::object());
        const Allocation& first = curve.points.front().candidate.allocation;
        entry.set("name", curve.name);
        entry.set("partition", first.partition.empty() ? Value() : Value(first.partition));
        entry.set("gpu", first.device.name);
        entry.set("knee_gpus", curve.knee ? Value(curve.points[*curve.knee].gpus()) : Value());
        Value& points = entry.set("points", Value::array());
        for (const ScalePoint& point : curve.points) points.push(point_value(point));
    }
    out.set("fastest", choice_value(scaling.fastest));
    out.set("cheapest", choice_value(scaling.cheapest));
    out.set("left_out", strings(scaling.left_out));
    out.set("assumed", strings(scaling.assumed));
    out.set("warnings", strings(scaling.warnings));
    return out;
}

}  // namespace dlcast
