// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>

#include "cli/chart.h"
#include "cli/comparison.h"
#include "cli/placements.h"
#include "predictor/base/text.h"

namespace dlcast {
namespace {

constexpr double bytes_per_GiB = 1 << 30;

std::string name_of(const ComparedGpu& gpu) {
    const Allocation& a = gpu.candidate.allocation;
    return fmt::format("{} x {}{}", a.world_size(), gpu.placement.gres,
                       a.partition.empty() ? "" : fmt::format(" ({})", a.partition));
}

std::string memory_of(const ComparedGpu& gpu) {
    return fmt::format("{:.1f} {} {:.0f}", gpu.candidate.step.memory.total_bytes() / bytes_per_GiB,
                       gpu.candidate.fits_memory ? "of" : ">",
                       gpu.candidate.allocation.device.memory_bytes / bytes_per_GiB);
}

std::string verdict_of(const ComparedGpu& gpu) {
    if (!gpu.candidate.fits_memory) return "  does not fit in memory";
    return gpu.candidate.fits_time ? "" : "  beyond the time limit";
}

std::string title_of(const Comparison& comparison) {
    const Workload& w = comparison.workload;
    const Training& t = w.training;
    return fmt::format(
        "{}{}, {}, {}", w.model.name, w.dataset.name.empty() ? "" : ", " + w.dataset.name, to_string(t.precision),
        t.global_batch > 0 ? fmt::format("global batch {}", t.global_batch)
                           : fmt::format("batch {} a {}", t.batch_size, unit_of(comparison.gpus.front().placement)));
}

std::vector<Placement> places_of(const Comparison& comparison) {
    std::vector<Placement> out;
    for (const ComparedGpu& gpu : comparison.gpus) out.push_back(gpu.placement);
    return out;
}

const char* time_name(const Comparison& comparison) { return comparison.has_duration ? "run time" : "million samples"; }

Value strings(const std::vector<std::string>& texts) {
    Value out = Value::array();
    for (const std::string& text : texts) out.push(text);
    return out;
}

}  // namespace

std::string to_text(const Comparison& comparison) {
    const std::string devices = devices_name(places_of(comparison));
    std::size_t width = devices.size();
    for (const ComparedGpu& gpu : comparison.gpus) width = std::max(width, name_of(gpu).size());
    std::string out = title_of(comparison) + "\n\n";
    const std::string hours = hours_name(places_of(comparison));
    const std::size_t hours_width = std::max<std::size_t>(10, hours.size());
    out += fmt::format("{:<{}} {:>11} {:>11} {:>16} {:>{}} {:>15}\n", devices, width, "step", "samples/s",
                       time_name(comparison), hours, hours_width, "memory GiB");
    for (const ComparedGpu& gpu : comparison.gpus)
        out += fmt::format("{:<{}} {:>11} {:>11.1f} {:>16} {:>{}} {:>15}{}\n", name_of(gpu), width,
                           format_step_time(gpu.candidate.step.step_s), gpu.samples_per_s, format_duration(gpu.time_s),
                           format_hours(gpu.gpu_hours), hours_width, memory_of(gpu), verdict_of(gpu));
    out += "\n";
    for (const std::string& text : comparison.left_out) out += fmt::format("left out  {}\n", text);
    for (const std::string& text : comparison.assumed) out += fmt::format("assumed   {}\n", text);
    for (const std::string& text : comparison.warnings) out += fmt::format("warning   {}\n", text);
    return out;
}

std::string to_svg(const Comparison& comparison) {
    std::vector<std::string> names;
    BarPanel time{time_name(comparison), {}}, hours{hours_name(places_of(comparison)), {}},
        memory{"memory, of the GiB there are", {}};
    for (const ComparedGpu& gpu : comparison.gpus) {
        names.push_back(name_of(gpu));
        time.bars.push_back({gpu.time_s, format_duration(gpu.time_s), !gpu.fits()});
        hours.bars.push_back({gpu.gpu_hours, format_hours(gpu.gpu_hours), !gpu.fits()});
        const double share = gpu.candidate.step.memory.total_bytes() / gpu.candidate.allocation.device.memory_bytes;
        memory.bars.push_back({share, memory_of(gpu), !gpu.fits()});
    }
    std::vector<std::string> notes;
    const bool all_fit = std::all_of(comparison.gpus.begin(), comparison.gpus.end(), [](auto& g) { return g.fits(); });
    if (!all_fit) notes.emplace_back("pale: does not fit in memory or in the time limit");
    return bar_chart(title_of(comparison), names, {time, hours, memory}, notes);
}

Value to_value(const Comparison& comparison) {
    Value out = Value::object();
    out.set("model", comparison.workload.model.name);
    out.set("time_of", comparison.has_duration ? "job" : "million_samples");
    Value& gpus = out.set("gpus", Value::array());
    for (const ComparedGpu& gpu : comparison.gpus) {
        const Candidate& candidate = gpu.candidate;
        const Allocation& allocation = candidate.allocation;
        Value& entry = gpus.push(Value::object());
        entry.set("gpu", allocation.device.name);
        entry.set("partition", allocation.partition.empty() ? Value() : Value(allocation.partition));
        entry.set("gpus", allocation.world_size());
        entry.set("nodes", allocation.nodes);
        entry.set("step_ms", 1e3 * candidate.step.step_s);
        entry.set("samples_per_s", gpu.samples_per_s);
        entry.set("time_s", gpu.time_s);
        entry.set("p95_s", candidate.job ? Value(candidate.job->p95_s) : Value());
        set_hours(entry, gpu.placement, gpu.gpu_hours);
        entry.set("memory_bytes", candidate.step.memory.total_bytes());
        entry.set("device_bytes", allocation.device.memory_bytes);
        entry.set("fits", gpu.fits());
    }
    out.set("left_out", strings(comparison.left_out));
    out.set("assumed", strings(comparison.assumed));
    out.set("warnings", strings(comparison.warnings));
    return out;
}

}  // namespace dlcast
