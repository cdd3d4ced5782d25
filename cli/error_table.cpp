// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/error_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dlcast {
namespace {

// The value that `fraction` of the samples do not exceed.
double quantile(std::vector<double> values, double fraction) {
    const auto at = static_cast<std::size_t>(fraction * static_cast<double>(values.size() - 1) + 0.5);
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
    return values[at];
}

std::string line(const std::string& name, const ErrorFigures& f) {
    return fmt::format("{:<46}{:>8}{:>9.1f}{:>9.1f}{:>9.1f}{:>12.3f}{:>11.1f}{:>10.1f}\n", name, f.rows, f.mape_pct,
                       f.median_ape_pct, f.p90_ape_pct, f.rmse_ms, f.baseline_mape_pct, f.coverage_pct);
}

Value to_value(const ErrorFigures& f) {
    Value out = Value::object();
    out.set("rows", static_cast<std::int64_t>(f.rows));
    out.set("mape_pct", f.mape_pct);
    out.set("median_ape_pct", f.median_ape_pct);
    out.set("p90_ape_pct", f.p90_ape_pct);
    out.set("rmse_ms", f.rmse_ms);
    out.set("roofline_mape_pct", f.baseline_mape_pct);
    out.set("coverage_90_pct", f.coverage_pct);
    return out;
}

}  // namespace

ErrorFigures figures_of(const std::vector<ErrorSample>& samples) {
    ErrorFigures out;
    if (samples.empty()) return out;
    std::vector<double> errors;
    double squares = 0.0, baseline = 0.0, sum = 0.0, inside = 0.0;
    for (const ErrorSample& s : samples) {
        errors.push_back(s.ape_pct);
        sum += s.ape_pct;
        squares += (s.predicted_ms - s.measured_ms) * (s.predicted_ms - s.measured_ms);
        baseline += s.baseline_ape_pct;
        inside += s.inside_interval ? 1.0 : 0.0;
    }
    const double count = static_cast<double>(samples.size());
    out.rows = samples.size();
    out.mape_pct = sum / count;
    out.median_ape_pct = quantile(errors, 0.5);
    out.p90_ape_pct = quantile(errors, 0.9);
    out.rmse_ms = std::sqrt(squares / count);
    out.baseline_mape_pct = baseline / count;
    out.coverage_pct = 100.0 * inside / count;
    return out;
}

void ErrorTable::add(const std::string& by, const std::string& group, const ErrorSample& sample) {
    by_[by][group].push_back(sample);
}

std::map<std::string, ErrorFigures> ErrorTable::groups(const std::string& by) const {
    std::map<std::string, ErrorFigures> out;
    const auto found = by_.find(by);
    if (found == by_.end()) return out;
    for (const auto& [group, samples] : found->second) out[group] = figures_of(samples);
    return out;
}

std::string ErrorTable::text() const {
    std::string out;
    for (const auto& [by, ignored] : by_) {
        out += fmt::format("{:<46}{:>8}{:>9}{:>9}{:>9}{:>12}{:>11}{:>10}\n", "by " + by, "rows", "MAPE %", "median %",
                           "p90 %", "RMSE ms", "roofline %", "in 90 %");
        for (const auto& [group, figures] : groups(by)) out += line(group, figures);
        out += '\n';
    }
    return out + line("all", total());
}

Value ErrorTable::json() const {
    Value out = to_value(total());
    Value by = Value::object();
    for (const auto& [way, ignored] : by_) {
        Value entries = Value::object();
        for (const auto& [group, figures] : groups(way)) entries.set(group, to_value(figures));
        by.set(way, std::move(entries));
    }
    out.set("by", std::move(by));
    return out;
}

}  // namespace dlcast
