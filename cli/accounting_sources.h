// SPDX-License-Identifier: GPL-2.0-or-later
// Where accounting comes from: Slurm's commands, run now, or files of their output.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/job_rows.h"
#include "predictor/accounting/budget.h"

namespace dlcast {

/// The options that `forecast` and `report` share.
struct AccountingOptions {
    std::vector<std::string> accounts, users, partitions;  // empty: all
    std::string begin = "", end = "now", at;               // as sacct takes them
    std::string sacct_file, squeue_file, assoc_file, sshare_file;
    bool from_files() const { return !(sacct_file + squeue_file + assoc_file + sshare_file).empty(); }
};

/// -A, -u, -p, -S, -E, --sacct, --at; a window without length is wrong usage.
void add_accounting_options(CLI::App& verb, AccountingOptions& options);

/// A window of time, and the moment that running and pending jobs belong to.
struct AccountingWindow {
    std::int64_t begin_s = 0, end_s = 0, now_s = 0;
};
/// Errors: a text that is no moment; a begin that is not before the end.
Result<AccountingWindow> window_of(const AccountingOptions& options, Calendar& calendar);

/// Moments as whole seconds and arrays in full from all Slurm's commands that run after this, whatever the environment
/// asks for.
void ask_slurm_plainly();

/// sacct's rows of the window, from the file or from Slurm.
Result<LineReader> open_sacct(const AccountingOptions& options, const AccountingWindow& window,
                              const Calendar& calendar);
/// squeue's rows; nothing where files are given and none of squeue.
Result<std::optional<LineReader>> open_squeue(const AccountingOptions& options);

/// Associations with their limits, and what they used. Slurm without sshare's figures is a warning.
struct Associations {
    std::vector<BudgetRow> rows;
    std::vector<BudgetUsage> usage;
};
Result<Associations> read_associations(const AccountingOptions& options, std::vector<std::string>& warnings);

/// Names of accounting by kind.
struct KnownNames {
    std::set<std::string> accounts, users, partitions;
};
/// A line for each name of -A, -u and -p that is not among `known`, with the nearest that is.
std::vector<std::string> unmatched_filters(const AccountingOptions& options, const KnownNames& known);

/// Does the run belong to what -A, -u, -p ask for?
class RunFilter {
public:
    RunFilter(const AccountingOptions& options, Names& names);
    bool operator()(Names::Id account, Names::Id user, Names::Id partition) const;
    /// The same of a budget; one of a whole account, or of all partitions, concerns every user, or partition, in it.
    bool concerns(const Budget& budget, Names& names) const;

private:
    static bool holds(const std::vector<Names::Id>& wanted, Names::Id id);
    std::vector<Names::Id> accounts_, users_, partitions_;
};

}  // namespace dlcast
