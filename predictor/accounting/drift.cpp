// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/accounting/drift.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace dlcast {
namespace {

constexpr std::size_t least_jobs_of_model = 10;
constexpr std::size_t least_part_jobs = 20;

double log_ratio(const JobRun& run) { return std::log(static_cast<double>(run.elapsed_s) / run.p50_s); }

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

void search(const std::vector<double>& values, std::size_t begin, std::size_t end, std::size_t least_part,
            std::vector<Break>& out) {
    const std::size_t n = end - begin;
    if (n < 2 * least_part) return;
    double sum = 0.0, squares = 0.0;
    for (std::size_t i = begin; i < end; ++i) sum += values[i], squares += values[i] * values[i];
    Break best;
    double left = 0.0;
    for (std::size_t i = begin; i + 1 < end; ++i) {
        left += values[i];
        const std::size_t k = i + 1 - begin;
        if (k < least_part || n - k < least_part) continue;
        const auto a = static_cast<double>(k), b = static_cast<double>(n - k);
        const double difference = (sum - left) / b - left / a;
        // The variance around the two means: a change must not hide itself in the spread.
        const double within = squares - left * left / a - (sum - left) * (sum - left) / b;
        const double error = std::sqrt(std::max(within, 1e-12) / (a + b - 2) * (1 / a + 1 / b));
        const double statistic = std::abs(difference) / error;
        if (std::abs(difference) >= least_log_change && statistic > best.statistic) best = {i + 1, statistic};
    }
    if (best.statistic < least_statistic) return;
    search(values, begin, best.first, least_part, out);
    out.push_back(best);
    search(values, best.first, end, least_part, out);
}

// Log ratios without what is usual for the model; runs of models too rare to know it are left out.
struct Series {
    std::vector<const JobRun*> runs;
    std::vector<double> values;
};

Series series_of(const std::vector<const JobRun*>& runs) {
    std::map<Names::Id, std::vector<double>> by_model;
    for (const JobRun* run : runs) by_model[run->model].push_back(log_ratio(*run));
    std::map<Names::Id, double> usual;
    for (auto& [model, values] : by_model)
        if (values.size() >= least_jobs_of_model) usual[model] = median(values);
    Series out;
    for (const JobRun* run : runs)
        if (const auto known = usual.find(run->model); known != usual.end()) {
            out.runs.push_back(run);
            out.values.push_back(log_ratio(*run) - known->second);
        }
    return out;
}

double median_ratio(const Series& series, std::size_t begin, std::size_t end) {
    std::vector<double> values;
    for (std::size_t i = begin; i < end; ++i) values.push_back(log_ratio(*series.runs[i]));
    return std::exp(median(std::move(values)));
}

}  // namespace

std::vector<Break> find_breaks(const std::vector<double>& values, std::size_t least_part) {
    std::vector<Break> out;
    search(values, 0, values.size(), std::max<std::size_t>(2, least_part), out);
    return out;
}

std::vector<Drift> find_drift(const std::vector<const JobRun*>& runs) {
    std::map<Names::Id, std::vector<const JobRun*>> by_partition;
    for (const JobRun* run : runs)
        if (is_judged(*run)) by_partition[run->partition].push_back(run);
    std::vector<Drift> out;
    for (const auto& [partition, own] : by_partition) {
        const Series series = series_of(own);
        const std::vector<Break> breaks = find_breaks(series.values, least_part_jobs);
        for (std::size_t i = 0; i < breaks.size(); ++i) {
            const std::size_t begin = i == 0 ? 0 : breaks[i - 1].first, at = breaks[i].first;
            const std::size_t end = i + 1 == breaks.size() ? series.runs.size() : breaks[i + 1].first;
            out.push_back({partition, series.runs[at]->end_s, at - begin, end - at, median_ratio(series, begin, at),
                           median_ratio(series, at, end), breaks[i].statistic});
        }
    }
    return out;
}

}  // namespace dlcast
