// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/memory.h"

#include <catch2/catch.hpp>

using namespace dlcast;
using Catch::Matchers::WithinRel;

namespace {
Workload billion(Precision precision, Optimizer optimizer) {
    Workload workload;
    workload.model.parameters = workload.model.trainable_parameters = 1'000'000'000;
    workload.training.precision = precision;
    workload.training.optimizer = optimizer;
    return workload;
}
double states(const MemoryEstimate& m) { return m.weights_bytes + m.gradients_bytes + m.optimizer_bytes; }
}  // namespace

// ZeRO, section 3.1: Adam needs 16 bytes a parameter in mixed precision; in fp32 4 + 4 + 8 as well.
TEST_CASE("Adam takes sixteen bytes a parameter in every precision", "[memory]") {
    const auto precision =
        GENERATE(Precision::fp32, Precision::tf32, Precision::amp, Precision::fp16, Precision::bf16, Precision::fp8);
    const MemoryEstimate memory = estimate_memory(billion(precision, Optimizer::adam), Layout{}, 1);
    CHECK_THAT(states(memory), WithinRel(16e9, 1e-12));
}

TEST_CASE("plain SGD keeps no states", "[memory]") {
    CHECK_THAT(states(estimate_memory(billion(Precision::fp32, Optimizer::sgd), Layout{}, 1)), WithinRel(8e9, 1e-12));
    CHECK_THAT(states(estimate_memory(billion(Precision::fp32, Optimizer::momentum), Layout{}, 1)),
               WithinRel(12e9, 1e-12));
}

// ZeRO, figure 1, 16 bytes over 64 ranks: stage 1: 2 + 2 + 12/64; stage 2: 2 + 14/64; stage 3: 16/64.
TEST_CASE("ZeRO's stages divide as published", "[memory]") {
    Layout layout;
    const Workload workload = billion(Precision::fp16, Optimizer::adam);
    layout.optimizer_shards = 64;
    CHECK_THAT(states(estimate_memory(workload, layout, 1)), WithinRel(4e9 + 12e9 / 64, 1e-12));
    layout.gradient_shards = 64;
    CHECK_THAT(states(estimate_memory(workload, layout, 1)), WithinRel(2e9 + 14e9 / 64, 1e-12));
    layout.weight_shards = 64;
    CHECK_THAT(states(estimate_memory(workload, layout, 1)), WithinRel(16e9 / 64, 1e-12));
}

TEST_CASE("frozen weights need neither gradient nor state", "[memory]") {
    Workload workload = billion(Precision::fp32, Optimizer::adam);
    workload.model.trainable_parameters = 0;
    CHECK_THAT(states(estimate_memory(workload, Layout{}, 1)), WithinRel(4e9, 1e-12));
    workload = billion(Precision::fp32, Optimizer::adam);
    workload.training.forward_only = true;
    CHECK_THAT(states(estimate_memory(workload, Layout{}, 1)), WithinRel(4e9, 1e-12));
}

TEST_CASE("activations grow with the batch and shrink over tensor ranks", "[memory]") {
    Workload workload = billion(Precision::fp32, Optimizer::sgd);
    Layer layer;
    layer.kind = LayerKind::linear;
    layer.input = {1024, 4096};
    layer.output = {1024, 4096};
    workload.model.layers.assign(16, layer);
    const double one = estimate_memory(workload, Layout{}, 1).activations_bytes;
    CHECK(one > 0);
    CHECK_THAT(estimate_memory(workload, Layout{}, 8).activations_bytes, WithinRel(8 * one, 1e-12));
    Layout layout;
    layout.tp = 4;
    CHECK_THAT(estimate_memory(workload, layout, 4).activations_bytes, WithinRel(one, 1e-12));
    // 16 layers in 4 segments of 4: borders and one segment are half of all.
    workload.training.activation_checkpointing = "full";
    CHECK_THAT(estimate_memory(workload, Layout{}, 1).activations_bytes, WithinRel(one / 2, 1e-12));
}
