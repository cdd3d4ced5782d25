// SPDX-License-Identifier: GPL-2.0-or-later
// Rows of `sacctmgr show assoc` and `sshare`.
#pragma once

#include <string>
#include <vector>

#include "cli/line_reader.h"
#include "predictor/accounting/budget.h"

namespace dlcast {

extern const char* const assoc_command;
extern const char* const sshare_command;
std::vector<std::string> assoc_arguments(const std::string& cluster);
std::vector<std::string> sshare_arguments();

/// Rows in their order; limits of other resources than GPUs and billing are passed over. Errors: a missing column.
Result<std::vector<BudgetRow>> read_assoc(LineReader lines);
Result<std::vector<BudgetUsage>> read_sshare(LineReader lines);

}  // namespace dlcast
