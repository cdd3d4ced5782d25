// SPDX-License-Identifier: GPL-2.0-or-later
// GPU-hours spent, left and promised: what `dlcast forecast` sums.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "predictor/accounting/calendar.h"
#include "predictor/accounting/job_run.h"
#include "predictor/accounting/remaining.h"

namespace dlcast {

/// The same hours counted by GPUs and by billing units (the partition's TRESBillingWeights).
struct Amount {
    double gpu_h = 0.0, billing_h = 0.0;
    Amount& operator+=(const Amount& other) {
        gpu_h += other.gpu_h;
        billing_h += other.billing_h;
        return *this;
    }
};

/// Quantiles are sums of the jobs' quantiles: exact where all forecasts err the same way, else p95 is an upper bound.
struct GpuHours {
    std::int64_t finished = 0, running = 0, pending = 0;  // jobs; an array's pending tasks count each
    Amount spent;                                         // in the window, by runs that ended
    Amount running_spent;                                 // in the window, by jobs that still run
    Amount left_p50, left_p95;                            // running jobs with a forecast
    Amount pending_p50, pending_p95;                      // pending jobs with a forecast
    // Jobs without a forecast count by their limit, apart; with no limit either they can only be counted.
    std::int64_t running_by_limit = 0, pending_by_limit = 0, running_unknown = 0, pending_unknown = 0;
    Amount left_limit, pending_limit;
    GpuHours& operator+=(const GpuHours& other);
};

struct GpuHoursKey {
    Names::Id account = 0, user = 0, partition = 0, gpu = 0;
    auto operator<=>(const GpuHoursKey&) const = default;
};

/// GPU-hours of one local day. `left` and `pending` are medians, laid from the moment of asking, or from the start that
/// Slurm expects; a pending job without such a start is on no day.
struct DayHours {
    double spent = 0.0, left = 0.0, pending = 0.0;
};

class GpuHoursSums {
public:
    /// Counts what falls into [begin, end); `now_s` is the moment to which running and pending jobs belong.
    GpuHoursSums(std::int64_t begin_s, std::int64_t end_s, std::int64_t now_s);

    void add(const JobRun& run, Calendar& calendar);
    /// Jobs under the first name count under the second.
    void rename_gpus(const std::map<Names::Id, Names::Id>& names);
    /// Does any of the run belong to the window, or is it still to come?
    bool concerns(const JobRun& run) const;

    const std::map<GpuHoursKey, GpuHours>& cells() const { return cells_; }
    const std::map<std::int64_t, DayHours>& days() const { return days_; }  // by the beginning of the day

private:
    // Of [from, to), as far as it lies in the window: hours in total, and onto the days.
    double spent_h(const JobRun& run, std::int64_t from_s, std::int64_t to_s, Calendar& calendar);
    void lay(std::int64_t from_s, std::int64_t to_s, double gpus, double DayHours::*kind, Calendar& calendar);

    std::int64_t begin_s_, end_s_, now_s_;
    std::map<GpuHoursKey, GpuHours> cells_;
    std::map<std::int64_t, DayHours> days_;
};

}  // namespace dlcast
