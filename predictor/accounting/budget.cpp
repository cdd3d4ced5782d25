// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/accounting/budget.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace dlcast {
namespace {

constexpr double longest_days = 100 * 366;  // beyond that there is no date worth printing

using Owner = std::tuple<std::string, std::string, std::string>;  // account, user, partition

struct Limit {
    const BudgetRow* of;
    const std::pair<std::string, double>* limit;  // TRES and hours
    GpuHours jobs;                                // that it binds
};

bool binds(const Limit& limit, const std::string& account, const GpuHoursKey& job, const Names& names) {
    const BudgetRow& of = *limit.of;
    if (!of.user.empty() && (of.account != account || of.user != names.at(job.user))) return false;
    if (!of.partition.empty() && of.partition != names.at(job.partition)) return false;
    const std::string_view tres = limit.limit->first;
    return !tres.starts_with("gres/gpu:") || tres.substr(9) == names.at(job.gpu);
}

// Adds all jobs to the limits of their accounts and of those above, so that a site of many accounts costs no more than
// its jobs times the depth of its tree.
void add_jobs(std::vector<Limit>& limits, const std::vector<BudgetRow>& associations, const GpuHoursSums& sums,
              const Names& names) {
    std::unordered_map<std::string, std::string> parents;
    for (const BudgetRow& a : associations)
        if (a.user.empty()) parents.emplace(a.account, a.parent);
    std::unordered_map<std::string, std::vector<Limit*>> of_account;
    for (Limit& limit : limits) of_account[limit.of->account].push_back(&limit);
    for (const auto& [key, cell] : sums.cells()) {
        const std::string& account = names.at(key.account);
        std::set<std::string> seen;  // a table written by hand may run in a circle
        for (std::string at = account; !at.empty() && seen.insert(at).second;) {
            if (const auto found = of_account.find(at); found != of_account.end())
                for (Limit* limit : found->second)
                    if (binds(*limit, account, key, names)) limit->jobs += cell;
            const auto parent = parents.find(at);
            at = parent == parents.end() ? "" : parent->second;
        }
    }
}

}  // namespace

Hours Budget::after_jobs() const {
    const double rest = remaining_h() - without_forecast_h();
    return {rest - left.p50 - pending.p50, rest - left.p95 - pending.p95};
}

std::vector<Budget> budgets_of(const std::vector<BudgetRow>& associations, const std::vector<BudgetUsage>& usage,
                               const GpuHoursSums& sums, const Names& names, double window_days, std::int64_t now_s) {
    std::vector<Limit> limits;
    for (const BudgetRow& of : associations)
        for (const auto& limit : of.limits_h) limits.push_back({&of, &limit, {}});
    add_jobs(limits, associations, sums, names);
    std::map<Owner, const BudgetUsage*> told;
    for (const BudgetUsage& u : usage) told.emplace(Owner{u.account, u.user, u.partition}, &u);

    std::vector<Budget> out;
    for (const Limit& limit : limits) {
        const BudgetRow& of = *limit.of;
        const auto& [tres, limit_h] = *limit.limit;
        const GpuHours& jobs = limit.jobs;
        const auto pick = [is_billing = tres == "billing"](const Amount& a) {
            return is_billing ? a.billing_h : a.gpu_h;
        };
        Budget budget;
        budget.account = of.account, budget.user = of.user, budget.partition = of.partition;
        budget.tres = tres, budget.share = of.share;
        budget.limit_h = limit_h;
        const double in_window_h = pick(jobs.spent) + pick(jobs.running_spent);
        budget.used_h = in_window_h;
        if (const auto found = told.find({of.account, of.user, of.partition}); found != told.end()) {
            budget.fair_share = found->second->fair_share, budget.level_fs = found->second->level_fs;
            for (const auto& [name, used_h] : found->second->used_h)
                if (name == tres) budget.used_h = used_h, budget.used_by_slurm = true;
        }
        budget.left = {pick(jobs.left_p50), pick(jobs.left_p95)};
        budget.pending = {pick(jobs.pending_p50), pick(jobs.pending_p95)};
        budget.left_by_limit_h = pick(jobs.left_limit), budget.pending_by_limit_h = pick(jobs.pending_limit);
        if (window_days > 0) budget.per_day_h = in_window_h / window_days;
        const double rest_h = std::max(0.0, budget.remaining_h());
        if (rest_h <= 0)
            budget.exhausted_s = now_s;
        else if (budget.per_day_h > 0 && rest_h / budget.per_day_h < longest_days)
            budget.exhausted_s = now_s + static_cast<std::int64_t>(rest_h / budget.per_day_h * 86'400);
        out.push_back(std::move(budget));
    }
    return out;
}

}  // namespace dlcast
