// SPDX-License-Identifier: GPL-2.0-or-later
// Bytes one GPU needs for training: weights, gradients, optimizer states, activations, workspace.
#pragma once

#include <cstdint>

#include "predictor/model/workload.h"
#include "predictor/step/layout.h"
#include "predictor/step/step_estimate.h"

namespace dlcast {

/// Bytes per parameter of what stays over a step. `optimizer` counts an fp32 master copy where the weights are 16 bits
/// wide.
struct BytesPerParameter {
    double weight = 4, gradient = 4, optimizer = 0;
};

/// fp32, tf32 and amp keep fp32 weights and gradients; fp16, bf16 and fp8 keep 16-bit ones and an fp32 master copy.
/// States in bytes: sgd 0, momentum 4, adam 8. So Adam needs 16 bytes in every precision. Source: Rajbhandari et al.,
/// ZeRO, SC20, section 3.1.
BytesPerParameter bytes_per_parameter(const Training& training);

/// Of the fullest GPU, for `micro_batch` samples. Activation checkpointing "full" keeps the borders of sqrt(layers)
/// segments and one segment (Chen et al., arXiv:1604.06174); "selective" drops what attention keeps (Korthikanti et
/// al., arXiv:2205.05198).
MemoryEstimate estimate_memory(const Workload& workload, const Layout& layout, std::int64_t micro_batch);

}  // namespace dlcast
