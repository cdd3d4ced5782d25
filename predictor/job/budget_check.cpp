// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/budget_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "predictor/base/text.h"
#include "predictor/job/array_tasks.h"

namespace dlcast {
namespace {

constexpr std::size_t deepest = 64;  // accounts above each other; more is a circle in a file written by hand

// Slurm keeps names of accounts in lower case and takes them in any.
bool same(std::string_view a, std::string_view b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

// The account and those above it.
std::vector<std::string_view> line_of(const Cluster& cluster, std::string_view account) {
    std::vector<std::string_view> out{account};
    while (out.size() < deepest) {
        const auto found = std::find_if(cluster.accounts.begin(), cluster.accounts.end(),
                                        [&](const Account& a) { return same(a.name, out.back()); });
        if (found == cluster.accounts.end() || found->parent.empty()) break;
        out.push_back(found->parent);
    }
    return out;
}

// "account research", "user ada in account vision on a100 GPUs".
std::string owner_of(const GpuBudget& budget) {
    std::string out = budget.user.empty() ? fmt::format("account {}", budget.account)
                                          : fmt::format("user {} in account {}", budget.user, budget.account);
    if (!budget.partition.empty()) out += " in partition " + budget.partition;
    if (!budget.gpu.empty()) out += fmt::format(" on {} GPUs", budget.gpu);
    return out;
}

// "the budget of account research is 100 GPU-hours: 80 used, 5 left in running jobs, 10 pending, 5 free (12 min ago);
// this job needs 12.7"
std::string shortage(const GpuBudget& budget, const std::string& account, double needed_gpu_h, std::int64_t tasks,
                     std::int64_t age_s) {
    const double free_gpu_h = std::max(0.0, budget.free_gpu_h());
    std::string out = fmt::format(
        "the budget of {} is {} GPU-hours: {} used, {} left in running jobs, {} pending, {} free{}; this job needs {}",
        owner_of(budget), format_hours(budget.limit_gpu_h), format_hours(budget.used_gpu_h),
        format_hours(budget.running_gpu_h), format_hours(budget.pending_gpu_h),
        free_gpu_h > 0 ? format_hours(free_gpu_h) : "none",
        age_s >= 0 ? fmt::format(" ({} ago)", format_duration(static_cast<double>(age_s))) : "",
        format_hours(needed_gpu_h));
    if (tasks > 1) out += fmt::format(" in {} tasks", tasks);
    if (!same(account, budget.account))
        out += fmt::format(" (account {} is below {})", one_line(account, 100), budget.account);
    return out + "; train less, name another account with --account, or have the budget raised";
}

}  // namespace

const GpuBudget* tightest_budget(const Cluster& cluster, const Submitter& who, const std::string& partition,
                                 const std::string& gres) {
    if (cluster.budgets.empty() || who.account.empty()) return nullptr;
    const auto accounts = line_of(cluster, who.account);
    const GpuBudget* tightest = nullptr;
    for (const GpuBudget& budget : cluster.budgets) {
        if (!budget.user.empty() && (budget.user != who.user || !same(budget.account, who.account))) continue;
        if (!budget.partition.empty() && budget.partition != partition) continue;
        if (!budget.gpu.empty() && !same(budget.gpu, gres)) continue;
        const bool above = std::any_of(accounts.begin(), accounts.end(),
                                       [&](std::string_view account) { return same(account, budget.account); });
        if (above && (!tightest || budget.free_gpu_h() < tightest->free_gpu_h())) tightest = &budget;
    }
    return tightest;
}

void check_budget(const Decision& decision, const SubmitRequest& request, const SiteConfig& site,
                  const Cluster& cluster, std::int64_t now_s, Verdict& verdict) {
    const Candidate& candidate = decision.candidate;
    if (site.budget == BudgetPolicy::ignore || cluster.budgets.empty() || !candidate.job || decision.placement.on_cpu ||
        verdict.action == Verdict::Action::reject)
        return;
    const Submitter who = submitter_of(cluster, request.user_id, request.account, request.qos);
    const GpuBudget* budget = tightest_budget(cluster, who, candidate.allocation.partition, decision.placement.gres);
    if (!budget) return;
    const std::int64_t tasks = count_array_tasks(request.array).value_or(1);
    const double needed_gpu_h = static_cast<double>(tasks) * candidate.job->gpu_hours(candidate.job->p50_s);
    if (needed_gpu_h <= budget->free_gpu_h()) return;
    const std::int64_t age_s = cluster.synced_at_s > 0 ? std::max<std::int64_t>(0, now_s - cluster.synced_at_s) : -1;
    const std::string line = shortage(*budget, who.account, needed_gpu_h, tasks, age_s);
    if (site.mode == Mode::shadow) {
        verdict.log = fmt::format("{}{}{}", verdict.log, verdict.log.empty() ? "" : "; ", line);
        return;
    }
    if (site.mode == Mode::enforce && site.budget == BudgetPolicy::reject) {
        verdict = {};
        verdict.action = Verdict::Action::reject;
        verdict.fault = Verdict::Fault::budget;
        verdict.message = fmt::format("dlcast: {}, {} x {} (partition {}): {}", decision.workload.model.name,
                                      candidate.allocation.world_size(), decision.placement.gres,
                                      candidate.allocation.partition, line);
        return;
    }
    verdict.message += fmt::format("{}dlcast: warning: {}", verdict.message.empty() ? "" : "\n", line);
}

}  // namespace dlcast
