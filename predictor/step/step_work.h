// SPDX-License-Identifier: GPL-2.0-or-later
// One optimizer step of one GPU: its operators, its messages, how often; sizes and counts alone.
#pragma once

#include <vector>

#include "predictor/base/result.h"
#include "predictor/device/cluster.h"
#include "predictor/step/layout.h"
#include "predictor/step/software_kind.h"
#include "predictor/step/work_item.h"

namespace dlcast {

/// Gradients that travel together: bytes, and the share of backward after which they are ready.
struct GradientBucket {
    double bytes = 0.0;
    double ready = 1.0;
};

/// One layer's part of `forward` and `backward`.
struct LayerWork {
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
    std::vector<LayerWork> layers;                    // the same by layer, before stages divide them
    double parameters = 0.0, tensors = 0.0;           // trained by this GPU, before sharding

    std::vector<GradientBucket> buckets;  // in the order of backward
    double gathered_bytes = 0.0;          // sharded weights: of one gather of all layers
    double tensor_message_bytes = 0.0;    // one reduction among tensor ranks
    double tensor_messages = 0.0;         // of a micro-step, forward and backward
    double ring_bytes = 0.0;              // keys and values of a forward around the context ring
    double stage_bytes = 0.0;             // from one pipeline stage to the next
};

/// Errors: a layout that does not multiply to the GPU count, no batch size, a global batch smaller than its replicas, a
/// link that is used and has no bandwidth.
Result<StepWork> step_work(const Workload& workload, const Allocation& allocation);

}  // namespace dlcast
