// SPDX-License-Identifier: GPL-2.0-or-later
// Step estimates for those who are in a hurry: without layers, and with the network only where it matters.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "predictor/step/step_estimate.h"

namespace dlcast {

class StepTotals {
public:
    /// By the constants alone, one estimate a query, `layers` empty, no spread yet. The workloads must outlive this;
    /// errors as of estimate_steps.
    static Result<StepTotals> make(std::vector<StepQuery> queries, const StepWeights& weights);
    StepTotals(StepTotals&&) noexcept;
    StepTotals& operator=(StepTotals&&) noexcept;
    ~StepTotals();

    const std::vector<StepEstimate>& steps() const { return steps_; }
    const std::vector<StepQuery>& queries() const { return queries_; }

    /// Makes steps()[i] what estimate_steps says with `model`, for the i of `which` (each at most once), in one batched
    /// call. The model is asked about nothing but what its answer enters. Errors: a failing model; steps() then stays.
    Status draw(const std::vector<std::size_t>& which, const LayerTimeModel& model);

    /// Has any query an fp32 step? The network's answer enters no other.
    bool takes_network() const;
    /// Has draw() made steps()[i] with the network?
    bool by_network(std::size_t i) const { return by_network_[i]; }

    /// Gives steps()[i] their spread, for the i of `which`.
    void spread(const std::vector<std::size_t>& which);
    void spread_all();

    /// The most that draw() usually changes a step: the network would have to differ from the constants by a factor of
    /// 1.45 in all layers, and those be convolutions.
    static constexpr double most_drawn = 1.3;

private:
    struct Plans;
    StepTotals(std::vector<StepQuery> queries, std::unique_ptr<Plans> plans, const StepWeights& weights);

    std::vector<StepQuery> queries_;
    std::vector<StepEstimate> steps_;
    std::vector<bool> by_network_;
    std::unique_ptr<Plans> plans_;
    const StepWeights* weights_;
};

}  // namespace dlcast
