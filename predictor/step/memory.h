// SPDX-License-Identifier: GPL-2.0-or-later
// Bytes one GPU needs for training, by part.
#pragma once

#include <cstdint>
#include <optional>

#include "predictor/base/result.h"
#include "predictor/model/workload.h"
#include "predictor/step/layout.h"
#include "predictor/step/memory_estimate.h"
#include "predictor/step/stage_parameters.h"

namespace dlcast {

/// Bytes per parameter of what stays over a step. `optimizer` counts an fp32 master copy where the weights are 16 bits
/// wide.
struct BytesPerParameter {
    double weight = 4, gradient = 4, optimizer = 0;
};

/// fp32, tf32 and amp keep fp32 weights and gradients; fp16, bf16 and fp8 keep 16-bit ones and an fp32 master copy, and
/// where micro-steps are accumulated sum gradients in fp32. States in bytes: sgd 0, momentum 4, adam 8. So Adam needs
/// 16 bytes in every precision, 18 where 16-bit gradients are accumulated. Sources: Rajbhandari et al., ZeRO, SC20,
/// section 3.1; Megatron-LM, README of its distributed optimizer.
BytesPerParameter bytes_per_parameter(const Training& training, bool accumulates);

/// Estimates of one workload on many places: what its layers need is added up again where the degrees of parallelism
/// change, not at each place.
class MemoryEstimator {
public:
    explicit MemoryEstimator(const Workload& workload) : workload_(workload) {}
    /// Of the fullest GPU, for `micro_batch` samples.
    MemoryEstimate on(const Layout& layout, std::int64_t micro_batch, const Device& device);

private:
    void add_up(const Layout& layout);

    const Workload& workload_;
    std::optional<Layout> layout_;  // of the two below
    StageParameters parameters_;
    double activation_bytes_ = 0.0;  // of one sample
};

/// The same for one place.
MemoryEstimate estimate_memory(const Workload& workload, const Layout& layout, std::int64_t micro_batch,
                               const Device& device);

/// The same for a workload on an allocation. Errors: those of make_layout and micro_batch_of.
Result<MemoryEstimate> memory_on(const Workload& workload, const Allocation& allocation);

/// The largest micro-batch whose forecast the device's memory holds; 0: not even one sample fits. Errors: those of
/// make_layout.
Result<std::int64_t> largest_micro_batch(const Workload& workload, const Allocation& allocation);

}  // namespace dlcast
