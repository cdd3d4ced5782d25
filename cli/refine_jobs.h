// SPDX-License-Identifier: GPL-2.0-or-later
// Finished jobs as ratios of their run time to their forecast.
#pragma once

#include <string>
#include <vector>

#include "cli/accounting_sources.h"
#include "predictor/device/catalog.h"
#include "predictor/step/step_factor.h"

namespace dlcast {

struct JobRatios {
    std::vector<StepRatio> ratios;  // one a model and GPU: the median over its jobs
    std::vector<std::string> notes;
};

/// Jobs that ran to their own end in one piece, on the GPUs, nodes and partition of their forecast, with a forecast of
/// five minutes or more by the weights `weights_id` (others would be corrected twice). The factors `in_force` that are
/// in those forecasts are taken out again. The kind of a model that no zoo name tells stays empty. Ratios beyond
/// largest_ratio (step_factor.h) are left out, with a note. Where the runs of a model scatter more than usual (1.4826
/// times the median distance from their median), so are runs to come taken to. Errors: accounting.
Result<JobRatios> job_ratios(const AccountingOptions& accounting, const std::string& weights_id,
                             const std::vector<StepFactor>& in_force, const DeviceCatalog& catalog);

}  // namespace dlcast
