// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/step_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "predictor/step/quantile.h"

namespace dlcast {
namespace {

// Between the two nearest values in proportion, as tables are usually scored.
double quantile(std::vector<double> values, double q) {
    if (values.empty()) return 0.0;
    std::sort(values.begin(), values.end());
    const double place = q * static_cast<double>(values.size() - 1);
    const auto low = static_cast<std::size_t>(place);
    const std::size_t high = std::min(low + 1, values.size() - 1);
    return values[low] + (place - static_cast<double>(low)) * (values[high] - values[low]);
}

Value to_value(const StepFigures& f) {
    Value out = Value::object();
    out.set("rows", static_cast<std::int64_t>(f.cases));
    out.set("mape_pct", f.mape_pct);
    out.set("median_ape_pct", f.median_ape_pct);
    out.set("p90_ape_pct", f.p90_ape_pct);
    out.set("bias_pct", f.bias_pct);
    out.set("coverage_90_pct", f.coverage_pct);
    out.set("below_p05_pct", f.below_pct);
    out.set("above_p95_pct", f.above_pct);
    return out;
}

std::string line(const std::string& name, const StepFigures& f) {
    return fmt::format("{:<36}{:>7}{:>9.1f}{:>10.1f}{:>9.1f}{:>9.1f}{:>10.1f}{:>9.1f}{:>9.1f}\n", name, f.cases,
                       f.mape_pct, f.median_ape_pct, f.p90_ape_pct, f.bias_pct, f.coverage_pct, f.below_pct,
                       f.above_pct);
}

std::string heading(const std::string& name) {
    return fmt::format("{:<36}{:>7}{:>9}{:>10}{:>9}{:>9}{:>10}{:>9}{:>9}\n", name, "cases", "MAPE %", "median %",
                       "p90 %", "bias %", "in 90 %", "< 5 %", "> 95 %");
}

}  // namespace

std::vector<StepError> one_a_group(const std::vector<StepError>& rows) {
    std::map<std::string, std::vector<const StepError*>> groups;
    for (const StepError& row : rows) groups[row.group].push_back(&row);
    std::vector<StepError> out;
    for (const auto& [group, members] : groups) {
        StepError one = *members.front();
        std::vector<double> measured, predicted;
        for (const StepError* member : members) {
            measured.push_back(member->measured_ms);
            predicted.push_back(member->predicted_ms);
        }
        one.measured_ms = quantile(measured, 0.5);
        one.predicted_ms = quantile(predicted, 0.5);
        out.push_back(std::move(one));
    }
    return out;
}

StepFigures step_figures(const std::vector<StepError>& cases) {
    StepFigures out;
    out.cases = cases.size();
    if (cases.empty()) return out;
    std::vector<double> absolute, relative;
    double sum = 0, below = 0, above = 0;
    const double z = normal_quantile(0.95);
    for (const StepError& one : cases) {
        relative.push_back(100 * (one.predicted_ms / one.measured_ms - 1));
        absolute.push_back(std::abs(relative.back()));
        sum += absolute.back();
        // Without a forecast there is no interval: measured above it.
        const double log_ratio =
            one.predicted_ms > 0 ? std::log(one.measured_ms / one.predicted_ms) : z * one.log_sd + 1;
        below += log_ratio < -z * one.log_sd ? 1 : 0;
        above += log_ratio > z * one.log_sd ? 1 : 0;
    }
    const auto count = static_cast<double>(cases.size());
    out.mape_pct = sum / count;
    out.median_ape_pct = quantile(absolute, 0.5);
    out.p90_ape_pct = quantile(absolute, 0.9);
    out.bias_pct = quantile(relative, 0.5);
    out.below_pct = 100 * below / count;
    out.above_pct = 100 * above / count;
    out.coverage_pct = 100 * (count - below - above) / count;
    return out;
}

StepFigureTable step_figures_by(const std::vector<StepError>& cases, const std::vector<std::string>& facts) {
    std::map<std::string, std::map<std::string, std::vector<StepError>>> parts;
    for (const StepError& one : cases)
        for (const std::string& fact : facts) {
            const auto found = one.facts.find(fact);
            if (found != one.facts.end()) parts[fact][found->second].push_back(one);
        }
    StepFigureTable out;
    for (const auto& [fact, values] : parts)
        for (const auto& [value, members] : values) out[fact][value] = step_figures(members);
    return out;
}

std::string to_text(const StepFigures& all, const StepFigureTable& by) {
    std::string out;
    for (const auto& [fact, values] : by) {
        out += heading("by " + fact);
        for (const auto& [value, figures] : values) out += line(value.empty() ? "-" : value, figures);
        out += '\n';
    }
    return out + heading("") + line("all", all);
}

Value to_value(const StepFigures& all, const StepFigureTable& by) {
    Value out = to_value(all);
    Value& groups = out.set("by", Value::object());
    for (const auto& [fact, values] : by) {
        Value& entries = groups.set(fact, Value::object());
        for (const auto& [value, figures] : values) entries.set(value, to_value(figures));
    }
    return out;
}

}  // namespace dlcast
