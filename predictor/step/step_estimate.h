// SPDX-License-Identifier: GPL-2.0-or-later
// One optimizer step of a workload on an allocation: where its time and memory go.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/device/cluster.h"
#include "predictor/model/workload.h"
#include "predictor/step/memory_estimate.h"
#include "predictor/step/step_weights.h"
#include "predictor/timing/layer_time_model.h"

namespace dlcast {

struct LayerTiming {
    std::string name, kind;
    double forward_s = 0.0, backward_s = 0.0;
    double flops = 0.0, bytes = 0.0;  // forward
    std::string bound;                // "compute", "memory", "launch"
    double log_sd = 0.0;
    Doubts doubts;  // of operators that make up a good part of it
};

/// Seconds of one optimizer step (all micro-steps). Medians; `log_sd` is the spread of step_s.
struct StepEstimate {
    double forward_s = 0.0, backward_s = 0.0, optimizer_s = 0.0;
    double communication_s = 0.0;          // all of it
    double exposed_communication_s = 0.0;  // what backward does not hide
    double host_s = 0.0;                   // the host's own time between steps
    double input_wait_s = 0.0;             // for samples, where a rate of the data loader is known
    double step_s = 0.0;
    double log_sd = 0.0;
    double samples_per_step = 0.0;  // global
    std::int64_t micro_batch = 0;   // samples of one GPU and micro-step
    double micro_steps = 1.0;
    MemoryEstimate memory;
    std::vector<LayerTiming> layers;
    double p05_s() const;
    double p95_s() const;
};

/// Where the step would run, and what for: one entry for each candidate.
struct StepQuery {
    const Workload* workload;
    Allocation allocation;
};

/// All candidates, in order: their times from the step-time model with the constants of `weights`, the spread of each
/// layer from `model`, in one batched call, identical operators once. Errors: a layout that does not multiply to the
/// GPU count, no batch size, a link that is used and has no bandwidth, a failing model.
Result<std::vector<StepEstimate>> estimate_steps(const std::vector<StepQuery>& queries, const LayerTimeModel& model,
                                                 const StepWeights& weights = {});

}  // namespace dlcast
