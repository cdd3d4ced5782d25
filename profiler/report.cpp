// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "predictor/base/json.h"
#include "predictor/base/text.h"

namespace dlcast {
namespace {

constexpr double line_every_s = 10.0;
constexpr std::size_t width_of_terminals = 118;
constexpr std::size_t name_width = 24;

// Names are paths, with whatever characters a path may have.
std::string printable(const std::string& text) { return one_line(text, std::string::npos); }

// 0: nothing of it was measured.
std::string milliseconds(double seconds) { return seconds > 0.0 ? fmt::format("{:.3f} ms", 1e3 * seconds) : "-"; }

constexpr double far_off = 0.25;

// On a busy host long work is interrupted, short work slips through.
std::string far_off_text(const ModelSums& model) {
    for (const LayerSum& sum : model.sums)
        if (sum.pass == Pass::step && sum.layers_s > 0.0 && sum.missing == 0 && std::abs(sum.error()) > far_off)
            return fmt::format(
                "  warning: the sum of layers and the whole step differ by more than {:.0f} %, as on a busy host; "
                "measure again on an idle one, into a new file\n",
                100.0 * far_off);
    return "";
}

bool on_terminal() { return ::isatty(STDERR_FILENO) != 0; }

}  // namespace

Progress progress_on_stderr(const std::string& program) {
    return [program, terminal = on_terminal(), last_s = -line_every_s](
               std::size_t done, std::size_t of, const TimeLeft& left, const SamplePoint& next) mutable {
        const double now_s = steady_now_s();
        if (!terminal && last_s > 0.0 && now_s - last_s < line_every_s) return;
        last_s = now_s;
        const std::string text =
            one_line(fmt::format("{}: {} of {} points, {}; {}", program, done, of, to_string(left), describe(next)),
                     terminal ? width_of_terminals : std::string::npos);
        if (terminal)
            fmt::print(stderr, "\r\033[K{}", text);
        else
            fmt::print(stderr, "{}\n", text);
        std::fflush(stderr);
    };
}

void end_progress() {
    if (on_terminal()) fmt::print(stderr, "\r\033[K");
}

std::string refusals_text(const std::vector<Refusal>& refused) {
    std::vector<std::pair<const Refusal*, std::size_t>> reasons;  // the first point of each, and how many have it
    for (const Refusal& of : refused) {
        const auto same = [&](const auto& reason) { return reason.first->why == of.why; };
        const auto known = std::find_if(reasons.begin(), reasons.end(), same);
        if (known == reasons.end())
            reasons.emplace_back(&of, 1);
        else
            ++known->second;
    }
    std::string out;
    for (const auto& [first, count] : reasons)
        out += fmt::format("  not possible: {}{}: {}\n", printable(first->point),
                           count == 1 ? "" : fmt::format(" and {} more", count - 1), printable(first->why));
    return out;
}

std::string profile_text(const ProfileResult& result, const std::vector<ModelSums>& models, const std::string& output) {
    std::string out = fmt::format("{} point{} measured in {}", result.measured, result.measured == 1 ? "" : "s",
                                  format_duration(result.spent_s));
    if (result.known > 0) out += fmt::format(", {} known before", result.known);
    if (!result.refused.empty()) out += fmt::format(", {} not possible", result.refused.size());
    if (result.left > 0)
        out += fmt::format(", {} left: no time within the budget{}; run again, or with a larger one", result.left,
                           result.lost_s >= 1.0 ? fmt::format(" ({} went into points that could not end within it)",
                                                              format_duration(result.lost_s))
                                                : "");
    out += fmt::format("; {}\n", printable(output));
    out += refusals_text(result.refused);
    for (const ModelSums& model : models) {
        // A name that is wider than its column has a line of its own.
        const std::string name = printable(model.model);
        const bool fits = name.size() <= name_width;
        out += fmt::format("\n{}{:<{}} {:>14} {:>14} {:>8}\n", fits ? "" : name + "\n", fits ? name : "", name_width,
                           "sum of layers", "whole pass", "off by");
        for (const LayerSum& sum : model.sums) {
            const bool both = sum.layers_s > 0.0 && sum.whole_s > 0.0 && sum.missing == 0;
            out += fmt::format("  {:<{}} {:>14} {:>14} {:>8}", to_string(sum.pass), name_width - 2,
                               milliseconds(sum.layers_s), milliseconds(sum.whole_s),
                               both ? fmt::format("{:+.1f} %", 100.0 * sum.error()) : "-");
            if (sum.missing > 0)
                out += fmt::format("  ({} operator{} not measured)", sum.missing, sum.missing == 1 ? "" : "s");
            out += '\n';
        }
        out += far_off_text(model);
    }
    return out;
}

std::string profile_json(const ProfileResult& result, const std::vector<ModelSums>& models, const std::string& output) {
    Value out = Value::object();
    out.set("measured", static_cast<std::int64_t>(result.measured));
    out.set("known", static_cast<std::int64_t>(result.known));
    out.set("left", static_cast<std::int64_t>(result.left));
    out.set("spent_s", result.spent_s);
    out.set("output", output);
    Value& refused = out.set("refused", Value::array());
    for (const Refusal& of : result.refused) refused.push(fmt::format("{}: {}", of.point, of.why));
    Value& list = out.set("models", Value::array());
    for (const ModelSums& model : models) {
        Value& entry = list.push(Value::object());
        entry.set("model", model.model);
        for (const LayerSum& sum : model.sums) {
            Value part = Value::object();
            part.set("layers_ms", sum.layers_s > 0.0 ? Value(1e3 * sum.layers_s) : Value());
            part.set("whole_ms", sum.whole_s > 0.0 ? Value(1e3 * sum.whole_s) : Value());
            part.set("missing", sum.missing);
            entry.set(to_string(sum.pass), part);
        }
    }
    return write_json(out, 2) + "\n";
}

}  // namespace dlcast
