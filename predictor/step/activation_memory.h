// SPDX-License-Identifier: GPL-2.0-or-later
// Activations on one GPU at the fullest moment of a step.
#pragma once

#include "predictor/model/workload.h"
#include "predictor/step/layout.h"

namespace dlcast {

/// Bytes for one sample of a micro-batch, when both are at their most together.
struct ActivationMemory {
    double kept_bytes = 0.0;     // by forward for backward
    double passing_bytes = 0.0;  // gradients of activations, a segment that runs again, what forward alone holds
    double total_bytes() const { return kept_bytes + passing_bytes; }
};

/// Backward frees what forward kept, layer by layer from the last on, while it holds the gradients of one layer's input
/// and output (of scores too, in attention that is not fused). "full" checkpointing keeps the input of each repeated
/// block and one block while it runs again, or sqrt(n) segments where nothing repeats (Chen et al., arXiv:1604.06174);
/// "selective" drops the scores of attention. Tensor ranks divide what lies between a product that is split by columns
/// and one split by rows, with sequence parallelism everything; context ranks divide tokens. Of a pipeline (1F1B) the
/// first stage holds min(stages, micro-batches) micro-batches, interleaved 1 + (pp - 1) / (pp vp) times as many; the
/// last holds one and the loss: the fuller counts. Source: Korthikanti et al., arXiv:2205.05198, sections 4 and 5.
ActivationMemory activation_memory(const Workload& workload, const Layout& layout);

}  // namespace dlcast
