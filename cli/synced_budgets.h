// SPDX-License-Identifier: GPL-2.0-or-later
// Budgets of GPU-hours for the cluster file: limits of associations, what Slurm says was used, what the queue promises.
#pragma once

#include <string>
#include <vector>

#include "predictor/accounting/budget.h"
#include "predictor/device/cluster.h"

namespace dlcast {

/// What sacctmgr, sshare and squeue printed, each with its header (assoc_arguments, sshare_arguments, squeue_header).
struct BudgetTables {
    std::string associations, shares, queue;
};

/// Does the table of associations limit GPU-hours anywhere?
bool has_gpu_budgets(const std::string& associations);

/// Fills `budgets`, and of `accounts` those below one that has a budget. A limit whose use sshare does not tell is left
/// out with a warning (Slurm keeps no account of it without PriorityType=priority/multifactor). Without a queue nothing
/// counts as running or pending, with a warning. Errors: a table without its columns.
Status add_budgets(Cluster& cluster, const BudgetTables& tables, std::int64_t now_s,
                   std::vector<std::string>& warnings);

/// Accounts below an account that has a budget, each with the one above it.
std::vector<Account> accounts_below_budgets(const std::vector<BudgetRow>& associations);

}  // namespace dlcast
