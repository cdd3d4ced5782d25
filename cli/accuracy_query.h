// SPDX-License-Identifier: GPL-2.0-or-later
// Finished jobs from accounting, judged: what `dlcast report` prints.
#pragma once

#include <string>
#include <vector>

#include "cli/accounting_sources.h"
#include "predictor/accounting/accuracy.h"
#include "predictor/device/cluster.h"

namespace dlcast {

struct AccuracyAnswer {
    AccountingWindow window;
    SkippedRows skipped;
    Names names;
    Accuracy accuracy;
    double kill_rate = 0.0;  // the site's promise; 0: none
};

/// Runs on GPUs that ended in the window. `cluster` (may be nullptr) tells the limit that a job without one of its own
/// would have had; `kill_rate` 0: no margins.
Result<AccuracyAnswer> ask_accuracy(const AccountingOptions& options, const Cluster* cluster, double kill_rate,
                                    Calendar& calendar);

}  // namespace dlcast
