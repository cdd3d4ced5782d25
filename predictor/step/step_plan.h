// SPDX-License-Identifier: GPL-2.0-or-later
// Inside of step_estimate.h and step_totals.h: the work of a step, and its calls in the table of operators.
#pragma once

#include <vector>

#include "predictor/step/memory.h"
#include "predictor/step/operator_table.h"
#include "predictor/step/step_estimate.h"
#include "predictor/step/step_physics.h"
#include "predictor/step/step_work.h"

namespace dlcast {

struct PlacedCalls {
    std::size_t place = 0;  // in the table of operators
    double count = 0.0;
    bool forward = true;
};

struct StepPlan {
    StepWork work;
    std::vector<std::vector<PlacedCalls>> calls;  // by distinct layer
};

/// The work of each query; the layers of a workload are lowered once for queries that stand together.
Result<std::vector<StepPlan>> plan_steps(const std::vector<StepQuery>& queries, const StepWeights& weights);

/// Enters the operators of the plan into the table; of distinct layers with a flag alone, where `wanted` has flags.
void place_calls(StepPlan& plan, const Device& device, OperatorTable& table, const std::vector<bool>& wanted = {});

/// All but the layers and the spread, by the constants alone. `memory` is the workload's.
StepEstimate totals_of(const StepWork& work, const StepWeights& weights, MemoryEstimator& memory);

/// The spread of its logarithm. Takes several times as long as the totals: each constant has a slope.
double log_sd_of(const Workload& workload, const StepWork& work, const StepWeights& weights);

/// One flag a distinct layer: those that the network is asked about. Of an fp32 step those with operators that it knows
/// better than the constants, if they take a hundredth of the layers' time at least: what it would change of smaller
/// ones is lost in its spread. `layers`: by the constants.
std::vector<bool> layers_for_network(const Workload& workload, const StepWork& work,
                                     const std::vector<LayerSeconds>& layers);

/// Draws the layers_for_network, and with them forward and backward as a whole, towards the network.
void blend_network(const Workload& workload, const StepPlan& plan, const std::vector<OperatorTime>& times,
                   std::vector<LayerSeconds>& layers, StepEstimate& out);

}  // namespace dlcast
