// SPDX-License-Identifier: GPL-2.0-or-later
// One GPU's work in a step, as places in a table of operators, before any time is known.
#pragma once

#include <cstdint>
#include <vector>

#include "predictor/step/layout.h"
#include "predictor/step/operator_table.h"
#include "predictor/step/software.h"
#include "predictor/step/step_estimate.h"

namespace dlcast {

struct PlannedCalls {
    std::size_t place = 0;  // in the table
    double count = 0.0;
    double factor = 1.0;  // of the software, on the operator's time
};

struct LayerPlan {
    std::vector<PlannedCalls> forward, backward;
    double flops = 0.0, bytes = 0.0;         // forward
    double compute_s = 0.0, memory_s = 0.0;  // ideal, forward and backward: which of them binds
    double gradient_bytes = 0.0;
    bool runs_again = false;  // forward, in backward: activation checkpointing
};

struct StepPlan {
    Layout layout;
    Software software;
    std::int64_t micro_batch = 1;  // samples of one forward pass of one replica
    std::vector<LayerPlan> layers;
    std::vector<PlannedCalls> update;  // once a step
};

/// Errors: a layout that does not multiply to the GPU count, no batch size, a global batch smaller than its replicas.
Result<StepPlan> plan_step(const StepQuery& query, const Device& device, OperatorTable& table);

}  // namespace dlcast
