// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/accounting/outcome.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace dlcast {
namespace {
constexpr std::int64_t minute_s = 60;
// Slurm looks for jobs over their limit once in a while; they end up to a minute or so late.
constexpr std::int64_t late_s = 90;
}  // namespace

void LimitOutcome::add(const JobRun& run, std::int64_t limit_s) {
    const bool timed_out = run.state == RunState::timeout;
    // What a killed job would have needed is not known; a limit no longer than its own kills it too.
    const bool longer = limit_s == no_limit || limit_s > run.elapsed_s;
    if (limit_s == unknown_limit || (timed_out && limit_s != run.limit_s && longer)) {
        ++unknown;
        return;
    }
    ++jobs;
    const bool is_killed = timed_out || (limit_s != no_limit && limit_s != run.limit_s && run.elapsed_s > limit_s) ||
                           (limit_s == run.limit_s && limit_s != no_limit && run.elapsed_s > limit_s + late_s);
    if (is_killed) ++killed;
    if (limit_s == no_limit) {
        ++unlimited;
        return;
    }
    asked_gpu_h += run.gpus * static_cast<double>(limit_s) / 3600;
    used_gpu_h += run.gpus * static_cast<double>(is_killed ? limit_s : run.elapsed_s) / 3600;
}

void ForecastErrors::add(const JobRun& run) {
    const auto elapsed_s = static_cast<double>(run.elapsed_s);
    if (run.state == RunState::completed) {
        ratios_.push_back(static_cast<float>(elapsed_s / run.p50_s));
        ape_sum_ += 100 * std::abs(run.p50_s / elapsed_s - 1);
    } else if (elapsed_s < run.p95_s) {
        return;
    }
    ++covered_;
    if (elapsed_s <= run.p50_s) ++below_p50_;
    if (elapsed_s <= run.p95_s && run.state == RunState::completed) ++below_p95_;
}

ForecastErrors::Figures ForecastErrors::figures() const {
    Figures out;
    out.jobs = static_cast<std::int64_t>(ratios_.size());
    out.covered_jobs = covered_;
    const auto of = static_cast<double>(std::max<std::int64_t>(covered_, 1));
    out.below_p50 = static_cast<double>(below_p50_) / of;
    out.below_p95 = static_cast<double>(below_p95_) / of;
    if (ratios_.empty()) return out;
    const auto median = [](std::vector<float> values) {
        // Of an even number the mean of both in the middle.
        const std::size_t half = values.size() / 2;
        std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(half), values.end());
        const double upper = static_cast<double>(values[half]);
        if (values.size() % 2 == 1) return upper;
        const auto lower = std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(half));
        return (upper + static_cast<double>(*lower)) / 2;
    };
    out.mape_pct = ape_sum_ / static_cast<double>(ratios_.size());
    out.median_ratio = median(ratios_);
    std::vector<float> errors;
    errors.reserve(ratios_.size());
    for (const float ratio : ratios_) errors.push_back(100 * std::abs(1 / ratio - 1));
    out.median_ape_pct = median(std::move(errors));
    return out;
}

Interval share_interval(std::int64_t hits, std::int64_t of) {
    if (of <= 0) return {};
    constexpr double z = 1.959963984540054;
    const auto n = static_cast<double>(of);
    const double p = static_cast<double>(hits) / n;
    const double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
    const double half = z / (1 + z * z / n) * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    return {std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

bool limit_is_ours(const JobRun& run) {
    return run.forecast_limit_s > 0 && std::abs(run.limit_s - run.forecast_limit_s) < minute_s &&
           run.asked_s != run.limit_s;
}

bool limit_was_changed(const JobRun& run) {
    // The user's own seconds were rounded up to minutes.
    return run.asked_s > 0 && run.limit_s > 0 && !limit_is_ours(run) && std::abs(run.limit_s - run.asked_s) >= minute_s;
}

std::int64_t own_limit_s(const JobRun& run, const std::map<Names::Id, std::int64_t>& partition_limits_s) {
    if (run.asked_s != unknown_limit && run.asked_s != no_limit) return run.asked_s;
    if (!limit_is_ours(run) && run.asked_s == unknown_limit) return run.limit_s;
    const auto of_partition = partition_limits_s.find(run.partition);
    if (of_partition != partition_limits_s.end()) return of_partition->second;
    return run.asked_s;  // UNLIMITED, or unknown
}

}  // namespace dlcast
