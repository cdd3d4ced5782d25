// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/peer_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace dlcast {
namespace {

double mean(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

}  // namespace

void PeerTable::add(const std::string& by, const std::string& group, double measured_ms,
                    const std::map<std::string, double>& predicted_ms) {
    Errors& errors = by_[by][group];
    for (const auto& [predictor, ms] : predicted_ms)
        errors[predictor].push_back(100.0 * std::abs(ms - measured_ms) / measured_ms);
}

std::vector<std::string> PeerTable::present(const std::map<std::string, Errors>& groups) const {
    std::vector<std::string> out;
    for (const std::string& predictor : predictors_) {
        const auto has = [&](const auto& group) { return group.second.count(predictor) > 0; };
        if (std::any_of(groups.begin(), groups.end(), has)) out.push_back(predictor);
    }
    return out;
}

std::string PeerTable::text() const {
    std::string out;
    for (const auto& [by, groups] : by_) {
        const std::vector<std::string> names = present(groups);
        out += fmt::format("{:<36}{:>6}", by, "rows");
        for (const std::string& name : names) out += fmt::format("  {:>10}", name);
        out += '\n';
        for (const auto& [group, errors] : groups) {
            std::size_t rows = 0;
            std::string cells;
            for (const std::string& name : names) {
                const auto found = errors.find(name);
                const std::string cell = found == errors.end() ? "-" : fmt::format("{:.1f}", mean(found->second));
                if (found != errors.end()) rows = std::max(rows, found->second.size());
                cells += fmt::format("  {:>{}}", cell, std::max<std::size_t>(10, name.size()));
            }
            out += fmt::format("{:<36}{:>6}{}\n", group, rows, cells);
        }
        out += '\n';
    }
    return out;
}

Value PeerTable::json() const {
    Value out = Value::object();
    for (const auto& [by, groups] : by_) {
        Value& entries = out.set(by, Value::object());
        for (const auto& [group, errors] : groups) {
            Value& columns = entries.set(group, Value::object());
            for (const std::string& predictor : predictors_) {
                const auto found = errors.find(predictor);
                if (found == errors.end()) continue;
                Value& figures = columns.set(predictor, Value::object());
                figures.set("rows", static_cast<std::int64_t>(found->second.size()));
                figures.set("mape_pct", mean(found->second));
                figures.set("median_ape_pct", median(found->second));
            }
        }
    }
    return out;
}

}  // namespace dlcast
