// SPDX-License-Identifier: GPL-2.0-or-later
// One optimizer step of one GPU: its operators, its messages, how often; sizes and counts alone.
#pragma once

#include <vector>

#include "predictor/base/result.h"
#include "predictor/device/cluster.h"
#include "predictor/step/distinct_layers.h"
#include "predictor/step/layout.h"
#include "predictor/step/shipped_collectives.h"
#include "predictor/step/software_kind.h"
#include "predictor/step/step_exchange.h"
#include "predictor/step/work_item.h"

namespace dlcast {

/// One distinct layer's part of `forward` and `backward`.
struct LayerWork {
    double count = 1.0;  // layers like it
    std::vector<WorkItem> forward, backward;
    std::vector<OperatorUse> operators;  // of both, as this GPU runs them
};

struct StepWork {
    Device device;
    SoftwareKind software;
    Layout layout;
    int nodes = 1;
    bool forward_only = false;
    bool tf32 = false;
    std::int64_t micro_batch = 1;                     // samples of one forward pass of one replica
    double micro_steps = 1.0;                         // of one step
    double passes = 1.0;                              // micro-steps, and those a pipeline needs to fill
    double stage = 1.0;                               // share of the layers on this GPU
    std::vector<WorkItem> forward, backward, update;  // of one micro-step and all layers; update once a step
    std::vector<LayerWork> layers;                    // the same by distinct layer, before stages divide them
    std::vector<std::uint32_t> layer_place;           // of each layer of the model, in `layers`
    double parameters = 0.0, tensors = 0.0;           // trained by this GPU, before sharding
    double update_launches = 0.0;

    StepExchange exchange;
};

/// Errors: a layout that does not multiply to the GPU count, no batch size, a global batch smaller than its replicas, a
/// link that is used and has no bandwidth. `collectives`: the constants of messages.
Result<StepWork> step_work(const Workload& workload, const Allocation& allocation,
                           const FittedCollectives& collectives = shipped_collectives());
/// The same with the workload's layers, kept from one place to the next.
Result<StepWork> step_work(const Workload& workload, const Allocation& allocation, const FittedCollectives& collectives,
                           LoweredLayers& layers);

}  // namespace dlcast
