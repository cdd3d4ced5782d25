// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/prediction_report.h"

#include <fmt/format.h>

#include "cli/durations.h"
#include "predictor/base/text.h"
#include "predictor/job/policy.h"

namespace dlcast {
namespace {

Value strings(const std::vector<std::string>& texts) {
    Value out = Value::array();
    for (const std::string& text : texts) out.push(text);
    return out;
}

// A forged or absurd model may need more bytes than an integer holds.
Value whole_bytes(double bytes) { return bytes < 9e18 ? Value(static_cast<std::int64_t>(bytes)) : Value(bytes); }

Value step_value(const StepEstimate& step) {
    Value out = Value::object();
    out.set("forward_ms", 1e3 * step.forward_s);
    out.set("backward_ms", 1e3 * step.backward_s);
    out.set("optimizer_ms", 1e3 * step.optimizer_s);
    out.set("communication_ms", 1e3 * step.communication_s);
    out.set("exposed_communication_ms", 1e3 * step.exposed_communication_s);
    out.set("host_ms", 1e3 * step.host_s);
    out.set("input_wait_ms", 1e3 * step.input_wait_s);
    out.set("step_ms", 1e3 * step.step_s);
    out.set("p05_ms", 1e3 * step.p05_s());
    out.set("p95_ms", 1e3 * step.p95_s());
    return out;
}

Value memory_value(const MemoryEstimate& memory, double device_bytes, std::int64_t largest_micro_batch) {
    Value out = Value::object();
    for (const MemoryPart& part : memory_parts)
        out.set(fmt::format("{}_bytes", part.name), whole_bytes(memory.*part.bytes));
    out.set("device_bytes", whole_bytes(device_bytes));
    out.set("largest_batch_size", largest_micro_batch);
    return out;
}

Value job_value(const JobForecast& job) {
    Value out = Value::object();
    for (const JobPart& part : job_parts) out.set(part.key, job.*part.seconds);
    return out;
}

Value layers_value(const StepEstimate& step) {
    Value out = Value::array();
    for (const LayerTiming& layer : step.layers) {
        Value& entry = out.push(Value::object());
        entry.set("name", layer.name);
        entry.set("kind", layer.kind);
        entry.set("forward_ms", 1e3 * layer.forward_s);
        entry.set("backward_ms", 1e3 * layer.backward_s);
        entry.set("flops", layer.flops);
        entry.set("bytes", layer.bytes);
        entry.set("bound", layer.bound);
        entry.set("log_sd", layer.log_sd);
    }
    return out;
}

// What vendors call GB of memory are GiB: a card of "80 GB" shows 80 here.
// Of a small model less than a hundredth would be left.
std::string gib(double bytes) {
    const double size = bytes / (1 << 30);
    return size < 0.01 ? fmt::format("{:.2f} MiB", bytes / (1 << 20)) : fmt::format("{:.2f} GiB", size);
}

// A label, a figure with its unit, and what is to be known beside it.
std::string line(const std::string& label, const std::string& figure, const std::string& beside = "") {
    std::string out = fmt::format("{:<15}{:>14}", label, figure);
    if (!beside.empty()) out += "   " + beside;
    return out + "\n";
}

std::string step_text(const StepEstimate& step) {
    std::string out = line("step", format_step_time(step.step_s),
                           fmt::format("90 %: {} to {}; {:.1f} samples/s", format_step_time(step.p05_s()),
                                       format_step_time(step.p95_s()), step.samples_per_step / step.step_s));
    out += line("  forward", format_step_time(step.forward_s)) + line("  backward", format_step_time(step.backward_s)) +
           line("  optimizer", format_step_time(step.optimizer_s));
    if (step.communication_s > 0)
        out += line("  communication", format_step_time(step.exposed_communication_s),
                    fmt::format("of {}; the rest runs behind backward", format_step_time(step.communication_s)));
    if (step.input_wait_s > 0)
        out += line("  input", format_step_time(step.input_wait_s), "waiting for the data loader's samples");
    if (step.host_s > 0)
        out += line("  host", format_step_time(step.host_s), "between steps: data loader, loop, logging");
    return out;
}

std::string memory_text(const Prediction& prediction) {
    const MemoryEstimate& m = prediction.candidate.step.memory;
    const std::int64_t largest = prediction.largest_micro_batch;
    std::string out = line(fmt::format("memory a {}", unit_of(prediction.placement)), gib(m.total_bytes()),
                           fmt::format("of {}: {}; {}", gib(prediction.placement.allocation.device.memory_bytes),
                                       prediction.candidate.fits_memory ? "fits" : "does not fit",
                                       largest > 0 ? fmt::format("the largest batch size that fits is {}", largest)
                                                   : "not even one sample would"));
    for (const MemoryPart& part : memory_parts)
        if (m.*part.bytes > 0) out += line(fmt::format("  {}", part.name), gib(m.*part.bytes));
    return out;
}

constexpr double least_shown_s = 0.5;  // less is said as 0 s

// The limit that slurmctld gives, also to a job that does not fit, or why it refuses that.
std::string limit_text(const Prediction& prediction) {
    const Candidate& candidate = prediction.candidate;
    if (prediction.refused) return line("time limit", "none", "slurmctld refuses the job: it " + candidate.reason);
    const std::string option = fmt::format("--time={}", format_limit(candidate.limit_min));
    const std::string& by = candidate.limit_capped_by.empty() ? candidate.limit_keeps : candidate.limit_capped_by;
    return line("time limit", format_limit(candidate.limit_min), option + (by.empty() ? "" : fmt::format(" ({})", by)));
}

std::string job_text(const Prediction& prediction) {
    const Candidate& candidate = prediction.candidate;
    if (!candidate.job) return "";
    const JobForecast& job = *candidate.job;
    const auto run_times = format_durations({job.p50_s, job.p95_s});
    std::string out = line("run time", run_times[0],
                           fmt::format("95 %: {}; {:.0f} step{}", run_times[1], job.steps, job.steps == 1 ? "" : "s"));
    for (const JobPart& part : job_parts)
        if (job.*part.seconds >= least_shown_s)
            out += line(fmt::format("  {}", part.name), format_duration(job.*part.seconds));
    out += limit_text(prediction);
    out += line(fmt::format("{}-hours", unit_of(prediction.placement)), format_hours(job.gpu_hours(job.p50_s)),
                "95 %: " + format_hours(job.gpu_hours(job.p95_s)));
    return out;
}

std::string layers_text(const StepEstimate& step) {
    std::string out = fmt::format("\n{:<32} {:<14} {:>12} {:>12} {:>10} {:>10}  {}\n", "layer", "kind", "forward ms",
                                  "backward ms", "GFLOP", "MB", "bound");
    for (const LayerTiming& layer : step.layers)
        out += fmt::format("{:<32} {:<14} {:>12.4f} {:>12.4f} {:>10.3f} {:>10.2f}  {}\n", layer.name, layer.kind,
                           1e3 * layer.forward_s, 1e3 * layer.backward_s, layer.flops / 1e9, layer.bytes / 1e6,
                           layer.bound);
    return out;
}

Value remedies_value(const std::vector<Remedy>& remedies) {
    Value out = Value::array();
    for (const Remedy& remedy : remedies) {
        Value& entry = out.push(Value::object());
        entry.set("options", remedy.options);
        entry.set("gpus", remedy.gpus);
        entry.set("memory_bytes", whole_bytes(remedy.memory_bytes));
        entry.set("samples_per_s", remedy.samples_per_s);
        entry.set("p50_s", remedy.run_time_s ? Value(*remedy.run_time_s) : Value());
    }
    return out;
}

std::string remedies_text(const std::vector<Remedy>& remedies) {
    std::string out;
    for (const Remedy& remedy : remedies)
        out += fmt::format("would fit      {}: {} of {}, {:.1f} samples/s{}\n", remedy.options,
                           gib(remedy.memory_bytes), gib(remedy.device_bytes), remedy.samples_per_s,
                           remedy.run_time_s ? ", " + format_duration(*remedy.run_time_s) : "");
    return out;
}

}  // namespace

bool fits(const Prediction& prediction) { return prediction.candidate.fits_memory && prediction.candidate.fits_time; }

Value to_value(const Prediction& prediction, bool layers, const std::vector<Remedy>& remedies) {
    const Candidate& candidate = prediction.candidate;
    const Allocation& allocation = candidate.allocation;
    Value out = Value::object();
    out.set("model", prediction.workload.model.name);
    out.set("gpu", allocation.device.name);
    out.set("gpus", allocation.world_size());
    out.set("nodes", allocation.nodes);
    out.set("partition", allocation.partition.empty() ? Value() : Value(allocation.partition));
    out.set("step", step_value(candidate.step));
    out.set("samples_per_s", candidate.step.samples_per_step / candidate.step.step_s);
    out.set("memory_bytes", whole_bytes(candidate.step.memory.total_bytes()));
    out.set("memory",
            memory_value(candidate.step.memory, allocation.device.memory_bytes, prediction.largest_micro_batch));
    out.set("batch_size", candidate.step.micro_batch);
    out.set("samples_per_step", candidate.step.samples_per_step);
    out.set("precision", to_string(prediction.workload.training.precision));
    out.set("steps", candidate.job ? Value(candidate.job->steps) : Value());
    out.set("fits", fits(prediction));
    out.set("refused", prediction.refused);
    out.set("walltime", nullptr);
    out.set("gpu_hours", nullptr);
    out.set("node_hours", nullptr);
    out.set("job", candidate.job ? job_value(*candidate.job) : Value());
    if (const auto& job = candidate.job) {
        Value& walltime = out.set("walltime", Value::object());
        walltime.set("p50_s", job->p50_s);
        walltime.set("p95_s", job->p95_s);
        walltime.set("limit_min", candidate.limit_min);
        walltime.set("limit_keeps", candidate.limit_keeps.empty() ? Value() : Value(candidate.limit_keeps));
        Value& hours = out.set(prediction.placement.on_cpu ? "node_hours" : "gpu_hours", Value::object());
        hours.set("p50", job->gpu_hours(job->p50_s));
        hours.set("p95", job->gpu_hours(job->p95_s));
    }
    if (layers) out.set("layers", layers_value(candidate.step));
    out.set("assumed", strings(prediction.assumed));
    out.set("left_out", strings(prediction.left_out));
    out.set("warnings", strings(prediction.warnings));
    out.set("remedies", remedies_value(remedies));
    out.set("anchored", prediction.anchored.empty() ? Value() : Value(prediction.anchored));
    out.set("least_certain", to_value(prediction.least_certain));
    out.set("by", prediction.origin.by);
    out.set("weights", prediction.origin.weights);
    return out;
}

std::string to_text(const Prediction& prediction, bool layers, const std::vector<Remedy>& remedies) {
    const Candidate& candidate = prediction.candidate;
    const Allocation& allocation = candidate.allocation;
    std::string out =
        fmt::format("{}, {} x {}", prediction.workload.model.name, allocation.world_size(), allocation.device.name);
    if (allocation.nodes > 1) out += fmt::format(" on {} nodes", allocation.nodes);
    if (!allocation.partition.empty()) out += fmt::format(" (partition {})", allocation.partition);
    out += fmt::format(", {} layer times\n\n", prediction.origin.by == "torch" ? "learnt" : prediction.origin.by);
    out += step_text(candidate.step);
    out += memory_text(prediction);
    out += job_text(prediction);
    if (!prediction.anchored.empty()) out += fmt::format("measured       {}\n", prediction.anchored);
    for (const UncertainLayers& uncertain : prediction.least_certain)
        out += fmt::format("least certain  {}\n", to_text(uncertain));
    for (const std::string& text : prediction.assumed) out += fmt::format("assumed        {}\n", text);
    for (const std::string& text : prediction.left_out) out += fmt::format("left out       {}\n", text);
    const bool told = candidate.job && prediction.refused;  // instead of the limit
    for (const std::string& text : prediction.warnings)
        if (!told || text != candidate.reason) out += fmt::format("warning        {}\n", text);
    out += remedies_text(remedies);
    if (layers) out += layers_text(candidate.step);
    return out;
}

}  // namespace dlcast
