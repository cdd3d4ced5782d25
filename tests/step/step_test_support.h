// SPDX-License-Identifier: GPL-2.0-or-later
// Small steps for tests of the step-time model.
#pragma once

#include <catch2/catch.hpp>

#include "predictor/step/step_work.h"

namespace dlcast::test {

// Round figures: 10 TFLOP/s on vector units, 100 on tensor units, 1 TB/s, and no stated power that would cap them.
inline Device round_device() {
    Device d;
    d.name = "round";
    d.vendor = "nvidia";
    d.architecture = "volta";
    d.compute_capability = 7.0;
    d.sm_count = 80;
    d.boost_clock_Hz = 1.5e9;
    d.memory_bytes = 16e9;
    d.memory_bandwidth_Bps = 1e12;
    d.fp32_flops_per_s = 1e13;
    d.fp16_flops_per_s = 1e14;
    return d;
}

inline Layer square_linear(std::int64_t size) {
    Layer layer;
    layer.name = "fc";
    layer.kind = LayerKind::linear;
    layer.input = layer.output = {size};
    layer.parameters = static_cast<std::uint64_t>(size * size);
    return layer;
}

inline Workload linear_net(int layers, std::int64_t size, std::int64_t batch) {
    Workload w;
    w.model.name = "net";
    for (int i = 0; i < layers; ++i) w.model.layers.push_back(square_linear(size));
    w.model.parameters = w.model.trainable_parameters = static_cast<std::uint64_t>(layers * size * size);
    w.training.batch_size = batch;
    w.training.optimizer = Optimizer::adam;
    return w;
}

inline StepWork work_of(const Workload& workload, int gpus = 1) {
    Allocation allocation;
    allocation.device = round_device();
    allocation.gpus_per_node = gpus;
    allocation.intra_node = {0.0, 100e9};
    auto work = step_work(workload, allocation);
    REQUIRE(work);
    return *work;
}

}  // namespace dlcast::test
