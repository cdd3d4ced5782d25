// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/accounting/budget.h"

#include <algorithm>
#include <set>

namespace dlcast {
namespace {

constexpr double longest_days = 100 * 366;  // beyond that there is no date worth printing

// The account and every account below it.
std::set<std::string> family(const std::string& account, const std::vector<BudgetRow>& associations) {
    std::set<std::string> out{account};
    for (std::size_t before = 0; before != out.size();) {
        before = out.size();
        for (const BudgetRow& a : associations)
            if (a.user.empty() && out.count(a.parent) > 0) out.insert(a.account);
    }
    return out;
}

GpuHours total(const BudgetRow& of, const std::string& tres, const std::vector<BudgetRow>& associations,
               const GpuHoursSums& sums, const Names& names) {
    const std::set<std::string> accounts = family(of.account, associations);
    const std::string type = tres.starts_with("gres/gpu:") ? tres.substr(9) : "";
    GpuHours out;
    for (const auto& [key, cell] : sums.cells()) {
        const bool inside = of.user.empty() ? accounts.count(names.at(key.account)) > 0
                                            : names.at(key.account) == of.account && names.at(key.user) == of.user;
        if (!inside || (!of.partition.empty() && names.at(key.partition) != of.partition)) continue;
        if (type.empty() || names.at(key.gpu) == type) out += cell;
    }
    return out;
}

const BudgetUsage* find(const std::vector<BudgetUsage>& usage, const BudgetRow& of) {
    const auto found = std::find_if(usage.begin(), usage.end(), [&](const BudgetUsage& u) {
        return u.account == of.account && u.user == of.user && u.partition == of.partition;
    });
    return found == usage.end() ? nullptr : &*found;
}

}  // namespace

Hours Budget::after_jobs() const {
    const double rest = remaining_h() - without_forecast_h;
    return {rest - left.p50 - pending.p50, rest - left.p95 - pending.p95};
}

std::vector<Budget> budgets_of(const std::vector<BudgetRow>& associations, const std::vector<BudgetUsage>& usage,
                               const GpuHoursSums& sums, const Names& names, double window_days, std::int64_t now_s) {
    std::vector<Budget> out;
    for (const BudgetRow& of : associations)
        for (const auto& [tres, limit_h] : of.limits_h) {
            const GpuHours jobs = total(of, tres, associations, sums, names);
            const auto pick = [is_billing = tres == "billing"](const Amount& a) {
                return is_billing ? a.billing_h : a.gpu_h;
            };
            Budget budget;
            budget.account = of.account, budget.user = of.user, budget.partition = of.partition;
            budget.tres = tres, budget.share = of.share;
            budget.limit_h = limit_h;
            const double in_window_h = pick(jobs.spent) + pick(jobs.running_spent);
            budget.used_h = in_window_h;
            if (const BudgetUsage* told = find(usage, of)) {
                budget.fair_share = told->fair_share;
                for (const auto& [name, used_h] : told->used_h)
                    if (name == tres) budget.used_h = used_h, budget.used_by_slurm = true;
            }
            budget.left = {pick(jobs.left_p50), pick(jobs.left_p95)};
            budget.pending = {pick(jobs.pending_p50), pick(jobs.pending_p95)};
            budget.without_forecast_h = pick(jobs.left_limit) + pick(jobs.pending_limit);
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
