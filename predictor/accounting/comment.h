// SPDX-License-Identifier: GPL-2.0-or-later
// Finds dlcast's forecast again in an admin_comment, among whatever others wrote there.
#pragma once

#include <string_view>

#include "predictor/accounting/job_run.h"

namespace dlcast {

/// Fills the forecast fields of `run` from {"dlcast":{..}} anywhere in `text`, and its `comment`. Of several the last
/// counts: it was added last. A forecast needs version 1 and a median; without a 95 % quantile it has the median's.
void read_comment(std::string_view text, Names& names, JobRun& run);

}  // namespace dlcast
