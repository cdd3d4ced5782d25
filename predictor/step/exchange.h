// SPDX-License-Identifier: GPL-2.0-or-later
// Communication of one optimizer step: what is sent, and what of it backward and forward do not hide.
#pragma once

#include <vector>

#include "predictor/base/result.h"
#include "predictor/model/workload.h"
#include "predictor/step/layout.h"
#include "predictor/step/overlap.h"
#include "predictor/step/software.h"

namespace dlcast {

/// One micro-step as the exchange sees it.
struct ComputeProfile {
    double forward_s = 0.0;
    std::vector<GradientReady> backward;  // in the order of backward; bytes of this GPU's gradients
    double micro_steps = 1.0;
    std::int64_t micro_batch = 1;
};

struct Exchange {
    double communication_s = 0.0;
    double exposed_s = 0.0;
};

/// Data parallelism: one all-reduce a step, in buckets behind the last backward. Sharded weights (FSDP, ZeRO 3): a
/// gather in forward, a gather and a reduce-scatter in backward, each micro-step. Tensor parallelism: two all-reduces
/// forward and two backward for each attention block, hidden by few frameworks. Context parallelism: keys and values
/// around the ring. Pipeline: activations to the next stage and gradients back. Errors: a link that is used and has no
/// bandwidth.
Result<Exchange> exchange_of(const Workload& workload, const Layout& layout, const Software& software,
                             const ComputeProfile& compute);

/// Bytes of one gradient element as it is sent.
double gradient_bytes(Precision precision);

}  // namespace dlcast
