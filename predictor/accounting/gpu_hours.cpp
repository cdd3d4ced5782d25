// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/accounting/gpu_hours.h"

#include <algorithm>

namespace dlcast {
namespace {

constexpr std::int64_t most_days_ahead_s = 366LL * 86'400;  // a longer plan is none

Amount amount(const JobRun& run, double hours) {
    return {hours * run.gpus * run.tasks, hours * static_cast<double>(run.billing) * run.tasks};
}

}  // namespace

GpuHours& GpuHours::operator+=(const GpuHours& other) {
    finished += other.finished;
    running += other.running;
    pending += other.pending;
    spent += other.spent;
    running_spent += other.running_spent;
    left_p50 += other.left_p50;
    left_p95 += other.left_p95;
    pending_p50 += other.pending_p50;
    pending_p95 += other.pending_p95;
    running_by_limit += other.running_by_limit;
    pending_by_limit += other.pending_by_limit;
    running_unknown += other.running_unknown;
    pending_unknown += other.pending_unknown;
    left_limit += other.left_limit;
    pending_limit += other.pending_limit;
    return *this;
}

GpuHoursSums::GpuHoursSums(std::int64_t begin_s, std::int64_t end_s, std::int64_t now_s)
    : begin_s_(begin_s), end_s_(end_s), now_s_(now_s) {}

void GpuHoursSums::lay(std::int64_t from_s, std::int64_t to_s, double gpus, double DayHours::*kind,
                       Calendar& calendar) {
    to_s = std::min(to_s, from_s + most_days_ahead_s);
    while (from_s < to_s) {
        const Calendar::Day day = calendar.day_of(from_s);
        const std::int64_t until_s = std::max(from_s + 1, std::min(to_s, day.end_s));
        days_[day.begin_s].*kind += gpus * static_cast<double>(until_s - from_s) / 3600;
        from_s = until_s;
    }
}

double GpuHoursSums::spent_h(const JobRun& run, std::int64_t from_s, std::int64_t to_s, Calendar& calendar) {
    const std::int64_t first_s = std::max(from_s, begin_s_), last_s = std::min(to_s, end_s_);
    if (first_s >= last_s) return 0.0;
    // A job that was suspended ran for less than it lasted; where, nobody tells.
    const double share = std::min(1.0, static_cast<double>(run.elapsed_s) / static_cast<double>(to_s - from_s));
    lay(first_s, last_s, run.gpus * share, &DayHours::spent, calendar);
    return static_cast<double>(last_s - first_s) * share / 3600;
}

void GpuHoursSums::add(const JobRun& run, Calendar& calendar) {
    if (run.gpus <= 0) return;
    GpuHours& cell = cells_[{run.account, run.user, run.partition, run.gpu}];
    const bool pending = run.state == RunState::pending;
    if (!pending && run.state != RunState::running) {
        if (run.elapsed_s <= 0) return;  // cancelled before it began
        const Amount spent = amount(run, spent_h(run, run.start_s, run.end_s, calendar));
        if (spent.gpu_h > 0) ++cell.finished;
        cell.spent += spent;
        return;
    }
    const double elapsed_s = pending ? 0.0 : static_cast<double>(run.elapsed_s);
    if (pending) {
        cell.pending += run.tasks;
    } else {
        ++cell.running;
        const std::int64_t from_s = run.start_s > 0 ? run.start_s : now_s_ - run.elapsed_s;
        cell.running_spent += amount(run, spent_h(run, from_s, std::max(now_s_, from_s), calendar));
    }
    Hours left;
    if (run.has_forecast()) {
        left = hours_left(run.p50_s, run.p95_s, elapsed_s, run.limit_s);
        (pending ? cell.pending_p50 : cell.left_p50) += amount(run, left.p50);
        (pending ? cell.pending_p95 : cell.left_p95) += amount(run, left.p95);
    } else if (run.limit_s >= 0) {
        left.p50 = std::max(0.0, static_cast<double>(run.limit_s) - elapsed_s) / 3600;
        (pending ? cell.pending_limit : cell.left_limit) += amount(run, left.p50);
        (pending ? cell.pending_by_limit : cell.running_by_limit) += run.tasks;
    } else {
        (pending ? cell.pending_unknown : cell.running_unknown) += run.tasks;
        return;
    }
    if (!run.has_forecast()) return;
    const auto length_s = static_cast<std::int64_t>(left.p50 * 3600);
    const double gpus = static_cast<double>(run.gpus) * run.tasks;
    if (!pending) lay(now_s_, now_s_ + length_s, gpus, &DayHours::left, calendar);
    if (pending && run.start_s >= now_s_) lay(run.start_s, run.start_s + length_s, gpus, &DayHours::pending, calendar);
}

void GpuHoursSums::rename_gpus(const std::map<Names::Id, Names::Id>& names) {
    std::map<GpuHoursKey, GpuHours> cells;
    for (const auto& [key, cell] : cells_) {
        GpuHoursKey renamed = key;
        if (const auto other = names.find(key.gpu); other != names.end()) renamed.gpu = other->second;
        cells[renamed] += cell;
    }
    cells_ = std::move(cells);
}

bool GpuHoursSums::concerns(const JobRun& run) const {
    if (run.state == RunState::pending || run.state == RunState::running) return true;
    return run.elapsed_s > 0 && run.start_s < end_s_ && run.end_s > begin_s_;
}

}  // namespace dlcast
