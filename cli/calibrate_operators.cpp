// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_set>

#include "cli/calibrate.h"
#include "cli/counted.h"
#include "predictor/model/workload.h"
#include "predictor/timing/choose_operators.h"
#include "predictor/timing/lowering.h"

namespace dlcast {
namespace {

constexpr std::size_t fewest_of_group = 3;

struct OperatorHash {
    std::size_t operator()(const Operator& op) const { return hash_of(op); }
};

using Groups = std::map<OperatorGroup, std::vector<Operator>>;

class Space {
public:
    explicit Space(const Device& device) : device_(device) {}

    Status add(const std::string& model, const OperatorSpace& space) {
        const auto declaration = read_model_argument(model);
        if (!declaration) return declaration.error();
        std::vector<std::optional<Precision>> precisions{std::nullopt};
        if (!space.precisions.empty()) precisions.clear();
        for (const std::string& name : space.precisions) {
            precisions.push_back(precision_from(name));
            if (!precisions.back())
                return invalid_argument(
                    fmt::format("--precision {}: unknown; one of fp32, tf32, amp, fp16, bf16, fp8", name));
        }
        for (const auto& precision : precisions) {
            WorkloadOverrides overrides;
            overrides.precision = precision;
            const auto workload = to_workload(*declaration, overrides);
            if (!workload) return workload.error();
            for (const std::int64_t batch : batches(*workload, space))
                for (const LayerOperators& layer : lower(workload->model, workload->training, batch)) {
                    for (const OperatorUse& use : layer.forward) add(use.op);
                    for (const OperatorUse& use : layer.backward) add(use.op);
                }
        }
        return ok();
    }
    const Groups& groups() const { return groups_; }
    std::size_t size() const { return seen_.size(); }

private:
    static std::vector<std::int64_t> batches(const Workload& workload, const OperatorSpace& space) {
        if (!space.batch_sizes.empty()) return space.batch_sizes;
        const std::int64_t own = std::max<std::int64_t>(1, workload.training.batch_size);
        std::vector<std::int64_t> out;
        for (const std::int64_t batch : {own / 4, own / 2, own, 2 * own})
            if (batch > 0) out.push_back(batch);
        return out;
    }
    void add(const Operator& op) {
        const auto group = group_of(op, device_, Clock::kernel);
        if (group && seen_.insert(op).second) groups_[*group].push_back(op);
    }

    const Device& device_;
    Groups groups_;
    std::unordered_set<Operator, OperatorHash> seen_;
};

std::size_t least_of(const std::vector<Operator>& group) { return std::min(fewest_of_group, group.size()); }

// Parts of the budget by the groups' sizes, each with its least; together they are the budget, which holds all leasts.
std::map<OperatorGroup, std::size_t> parts_of(std::size_t budget, const Space& space) {
    std::map<OperatorGroup, std::size_t> out;
    std::size_t given = 0;
    for (const auto& [group, operators] : space.groups()) given += out[group] = least_of(operators);
    for (; given < budget; ++given) {
        // To the group that is furthest below its share of the budget.
        auto next = out.end();
        double most_owed = 0.0;
        for (auto part = out.begin(); part != out.end(); ++part) {
            const std::size_t own = space.groups().at(part->first).size();
            if (part->second == own) continue;
            const double share =
                static_cast<double>(budget) * static_cast<double>(own) / static_cast<double>(space.size());
            const double owed = share - static_cast<double>(part->second);
            if (next == out.end() || owed > most_owed) next = part, most_owed = owed;
        }
        ++next->second;
    }
    return out;
}

}  // namespace

Result<OperatorPlan> plan_operators(const OperatorSpace& space, const Device& device, const LayerTimeModel& model,
                                    std::size_t budget, std::uint64_t seed) {
    Space all(device);
    for (const std::string& name : space.models)
        if (auto s = all.add(name, space); !s) return s.error();
    if (all.size() == 0) return invalid_argument("no operator of these models is known to the network");
    if (budget > all.size())
        return invalid_argument(fmt::format(
            "--budget {}: the models have {} different operators; add models or --batch-sizes", budget, all.size()));
    OperatorPlan out;
    for (const auto& [group, operators] : all.groups()) out.least += least_of(operators);
    if (budget > 0 && budget < out.least)
        return invalid_argument(
            fmt::format("--budget {}: {} measurements are the least for {} of operators, three each, so that refine "
                        "can judge; give "
                        "--budget {} or more",
                        budget, out.least, counted(all.groups().size(), "group"), out.least));
    if (budget == 0) {
        budget = static_cast<std::size_t>(std::ceil(usual_share * static_cast<double>(all.size())));
        budget = std::max(budget, out.least);
    }
    const auto parts = parts_of(budget, all);
    for (const auto& [group, operators] : all.groups()) {
        std::vector<OperatorQuery> queries;
        for (const Operator& op : operators) queries.push_back({&op, &device});
        const auto chosen = choose_operators(queries, model, parts.at(group), seed);
        if (!chosen) return chosen.error();
        for (const std::size_t i : *chosen) out.operators.push_back(operators[i]);
        out.groups.push_back({fmt::format("{}{}", operator_family_names[static_cast<std::size_t>(group.family)],
                                          group.tensor_units ? " on tensor units" : ""),
                              operators.size(), chosen->size()});
    }
    return out;
}

}  // namespace dlcast
