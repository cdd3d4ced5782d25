// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/synced_budgets.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "cli/assoc_rows.h"
#include "cli/job_rows.h"
#include "predictor/base/text.h"

namespace dlcast {
namespace {

constexpr std::string_view any_gpu = "gres/gpu";

bool limits_gpus(const BudgetRow& row) {
    return std::any_of(row.limits_h.begin(), row.limits_h.end(),
                       [](const auto& limit) { return limit.first.starts_with(any_gpu); });
}

Result<std::vector<BudgetRow>> rows_of(const std::string& associations) {
    return read_assoc(LineReader::of_text(associations, "sacctmgr's associations"));
}

// Of all that runs and waits.
Status add_queue(const std::string& queue, Names& names, GpuHoursSums& sums) {
    Calendar calendar;
    SkippedRows skipped;
    return read_squeue(LineReader::of_text(queue, "squeue's jobs"), names, calendar, skipped,
                       [&](const JobRun& run, const RunKey&) { sums.add(run, calendar); });
}

std::string of_whom(const Budget& budget) {
    return budget.user.empty() ? "account " + budget.account
                               : fmt::format("user {} in account {}", budget.user, budget.account);
}

GpuBudget to_gpu_budget(const Budget& budget) {
    GpuBudget out{.account = budget.account, .user = budget.user, .partition = budget.partition, .gpu = ""};
    if (budget.tres.size() > any_gpu.size()) out.gpu = budget.tres.substr(any_gpu.size() + 1);
    out.limit_gpu_h = budget.limit_h;
    out.used_gpu_h = budget.used_h;
    out.running_gpu_h = budget.left.p50 + budget.left_by_limit_h;
    out.pending_gpu_h = budget.pending.p50 + budget.pending_by_limit_h;
    return out;
}

}  // namespace

bool has_gpu_budgets(const std::string& associations) {
    // Tables of older files have no such column.
    if (to_lower(std::string_view(associations).substr(0, associations.find('\n'))).find("grptresmins") ==
        std::string::npos)
        return false;
    const auto rows = rows_of(associations);
    return rows && std::any_of(rows->begin(), rows->end(), limits_gpus);
}

std::vector<Account> accounts_below_budgets(const std::vector<BudgetRow>& associations) {
    std::map<std::string, std::string> parents;
    std::set<std::string> limited;
    for (const BudgetRow& row : associations) {
        if (!row.user.empty()) continue;
        parents[row.account] = row.parent;
        if (limits_gpus(row)) limited.insert(row.account);
    }
    std::vector<Account> out;
    for (const auto& [account, parent] : parents) {
        std::set<std::string> seen{account};
        for (auto above = parents.find(parent); above != parents.end() && seen.insert(above->first).second;
             above = parents.find(above->second)) {
            if (limited.count(above->first) == 0) continue;
            out.push_back({account, parent});
            break;
        }
    }
    return out;
}

Status add_budgets(Cluster& cluster, const BudgetTables& tables, std::int64_t now_s,
                   std::vector<std::string>& warnings) {
    const auto rows = rows_of(tables.associations);
    if (!rows) return rows.error();
    std::vector<BudgetUsage> usage;
    if (!tables.shares.empty()) {
        auto told = read_sshare(LineReader::of_text(tables.shares, "sshare's shares"));
        if (!told) return told.error();
        usage = std::move(*told);
    }
    Names names;
    GpuHoursSums sums(now_s, now_s + 1, now_s);
    if (tables.queue.empty())
        warnings.push_back("budgets: squeue's jobs are not there; nothing counts as running or pending");
    else if (auto s = add_queue(tables.queue, names, sums); !s)
        return s;
    for (const Budget& budget : budgets_of(*rows, usage, sums, names, 0.0, now_s)) {
        if (!budget.tres.starts_with(any_gpu)) continue;
        if (budget.used_by_slurm)
            cluster.budgets.push_back(to_gpu_budget(budget));
        else
            warnings.push_back(
                fmt::format("budgets: sshare does not tell how much {} has used of {}; the budget is left out",
                            of_whom(budget), budget.tres));
    }
    if (!cluster.budgets.empty()) cluster.accounts = accounts_below_budgets(*rows);
    return ok();
}

}  // namespace dlcast
