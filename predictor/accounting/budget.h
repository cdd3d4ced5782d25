// SPDX-License-Identifier: GPL-2.0-or-later
// Budgets of associations (GrpTRESMins) against what was used, runs and is promised.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "predictor/accounting/gpu_hours.h"

namespace dlcast {

/// A row of `sacctmgr show assoc`. An account's own row has no user; it stands for its users and sub-accounts too.
struct BudgetRow {
    std::string account, parent, user, partition;
    std::string share;                                     // Fairshare: a number or "parent"
    std::vector<std::pair<std::string, double>> limits_h;  // GrpTRESMins of GPUs and billing, in hours
};

/// A row of `sshare`.
struct BudgetUsage {
    std::string account, user, partition;
    std::optional<double> fair_share;                    // 0 to 1; absent for accounts
    std::vector<std::pair<std::string, double>> used_h;  // GrpTRESRaw, in hours
    std::optional<double> level_fs;                      // shares over usage among its siblings; absent where unused
};

/// One limit: `tres` is gres/gpu, gres/gpu:TYPE or billing; all figures in hours of it.
struct Budget {
    std::string account, user, partition, tres;
    std::string share;
    std::optional<double> fair_share, level_fs;
    double limit_h = 0.0, used_h = 0.0;
    bool used_by_slurm = false;  // sshare's figure, decayed as the site has it; else accounting's of the window
    Hours left, pending;         // running and pending jobs with forecasts
    double left_by_limit_h = 0.0, pending_by_limit_h = 0.0;  // what jobs without one may take
    double per_day_h = 0.0;                                  // mean rate in the window
    std::optional<std::int64_t> exhausted_s;  // when that rate uses up the budget; now where it is used up
    double remaining_h() const { return limit_h - used_h; }
    double without_forecast_h() const { return left_by_limit_h + pending_by_limit_h; }
    /// What stays when all that runs and waits has ended, by the median and by the 95 % quantile.
    Hours after_jobs() const;
};

/// A budget for each limit of GPUs or billing, in the order of the associations. `window_days` is what the sums cover
/// up to `now_s`.
std::vector<Budget> budgets_of(const std::vector<BudgetRow>& associations, const std::vector<BudgetUsage>& usage,
                               const GpuHoursSums& sums, const Names& names, double window_days, std::int64_t now_s);

}  // namespace dlcast
