// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/step_totals.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "predictor/step/step_plan.h"

namespace dlcast {

struct StepTotals::Plans {
    std::vector<StepPlan> plans;
};

StepTotals::StepTotals(std::vector<StepQuery> queries, std::unique_ptr<Plans> plans, const StepWeights& weights)
    : queries_(std::move(queries)), by_network_(queries_.size(), false), plans_(std::move(plans)), weights_(&weights) {}
StepTotals::StepTotals(StepTotals&&) noexcept = default;
StepTotals& StepTotals::operator=(StepTotals&&) noexcept = default;
StepTotals::~StepTotals() = default;

Result<StepTotals> StepTotals::make(std::vector<StepQuery> queries, const StepWeights& weights) {
    auto plans = plan_steps(queries, weights);
    if (!plans) return plans.error();
    StepTotals out(std::move(queries), std::make_unique<Plans>(Plans{std::move(*plans)}), weights);
    out.steps_.reserve(out.queries_.size());
    const Workload* last = nullptr;
    std::optional<MemoryEstimator> memory;
    for (std::size_t i = 0; i < out.queries_.size(); ++i) {
        const Workload* const workload = out.queries_[i].workload;
        if (workload != last) memory.emplace(*workload);
        last = workload;
        out.steps_.push_back(totals_of(out.plans_->plans[i].work, weights, *memory));
    }
    return out;
}

bool StepTotals::takes_network() const {
    return std::any_of(queries_.begin(), queries_.end(),
                       [](const StepQuery& query) { return query.workload->training.precision == Precision::fp32; });
}

void StepTotals::spread(const std::vector<std::size_t>& which) {
    for (const std::size_t i : which)
        steps_[i].log_sd = log_sd_of(*queries_[i].workload, plans_->plans[i].work, *weights_);
}

void StepTotals::spread_all() {
    std::vector<std::size_t> all(steps_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    spread(all);
}

Status StepTotals::draw(const std::vector<std::size_t>& which, const LayerTimeModel& model) {
    if (model.by() != "torch") return ok();
    OperatorTable table;
    std::map<std::string, const Device*> devices;
    std::vector<std::vector<LayerSeconds>> seconds;
    for (const std::size_t i : which) {
        if (queries_[i].workload->training.precision != Precision::fp32) return ok();
        StepPlan& plan = plans_->plans[i];
        seconds.push_back(layer_seconds(plan.work, weights_->coefficients));
        const Device& own = queries_[i].allocation.device;
        place_calls(plan, *devices.try_emplace(own.name, &own).first->second, table,
                    layers_for_network(*queries_[i].workload, plan.work, seconds.back()));
    }
    if (table.size() == 0) return ok();
    const auto times = table.times(model);
    if (!times) return times.error();
    for (std::size_t n = 0; n < which.size(); ++n) {
        const std::size_t i = which[n];
        const StepPlan& plan = plans_->plans[i];
        blend_network(*queries_[i].workload, plan, *times, seconds[n], steps_[i]);
        by_network_[i] =
            std::any_of(plan.calls.begin(), plan.calls.end(), [](const auto& calls) { return !calls.empty(); });
    }
    return ok();
}

}  // namespace dlcast
