// SPDX-License-Identifier: GPL-2.0-or-later
// Queue and accounting, summed: what `dlcast forecast` prints.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/accounting_sources.h"
#include "predictor/accounting/budget.h"
#include "predictor/accounting/gpu_hours.h"
#include "predictor/device/catalog.h"

namespace dlcast {

struct GpuHoursAnswer {
    AccountingWindow window;
    SkippedRows skipped;
    GpuHours total;
    std::map<std::string, GpuHours> by_account, by_user, by_partition, by_gpu;
    std::map<std::int64_t, DayHours> by_day;  // by the beginning of the local day
    std::vector<Budget> budgets;              // of the accounts and users asked for
    std::vector<std::string> warnings;
};

/// A job that ended between the two questions to Slurm counts once, as ended. `catalog` (may be nullptr) tells which
/// GRES type a forecast's GPU is.
Result<GpuHoursAnswer> ask_gpu_hours(const AccountingOptions& options, Calendar& calendar,
                                     const DeviceCatalog* catalog);

}  // namespace dlcast
