// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/exchange.h"

#include <catch2/catch.hpp>

using namespace dlcast;
using Catch::Matchers::WithinRel;

namespace {

Allocation four_gpus() {
    Allocation allocation;
    allocation.gpus_per_node = 4;
    allocation.intra_node = {0.0, 100e9};
    return allocation;
}
Layout layout_of(const Workload& workload, const Allocation& allocation = four_gpus()) {
    const auto layout = make_layout(workload.training.parallel, allocation);
    REQUIRE(layout);
    return *layout;
}
Exchange exchange(const Workload& workload, const ComputeProfile& compute, const Allocation& allocation = four_gpus()) {
    const auto result = exchange_of(workload, layout_of(workload, allocation), Software{}, compute);
    REQUIRE(result);
    return *result;
}
// A model of 1e9 parameters in fp32, whose backward takes 100 s: everything that can hide does.
ComputeProfile long_compute() {
    ComputeProfile compute;
    compute.forward_s = 100;
    compute.backward = {{100, 4e9}};
    return compute;
}
Workload billion() {
    Workload workload;
    workload.model.parameters = workload.model.trainable_parameters = 1'000'000'000;
    return workload;
}

}  // namespace

// One bucket of 4 GB: 2 x 3/4 x 4e9 / 100e9 = 0.06 s, ready when backward ends.
TEST_CASE("gradients are reduced once a step, the last bucket in the open", "[exchange]") {
    ComputeProfile compute = long_compute();
    compute.micro_steps = 8;
    const Exchange result = exchange(billion(), compute);
    CHECK_THAT(result.communication_s, WithinRel(0.06, 1e-9));
    CHECK_THAT(result.exposed_s, WithinRel(0.06, 1e-9));
}

// 4 GB gathered in 40 units: 3/4 x 4e9 / 100e9 = 0.03 s forward, twice that backward, in each of 2 micro-steps.
TEST_CASE("sharded weights are gathered and gradients scattered each micro-step", "[exchange]") {
    Workload workload = billion();
    workload.training.parallel.fsdp = "full";
    ComputeProfile compute = long_compute();
    compute.micro_steps = 2;
    const Exchange result = exchange(workload, compute);
    CHECK_THAT(result.communication_s, WithinRel(2 * 0.09, 1e-9));
    CHECK(result.exposed_s > 0);
    CHECK(result.exposed_s < result.communication_s);
}

// One attention block of 1000 tokens x 1000 wide, batch 10, fp32: 40 MB, 2 x 3/4 x 40e6 / 100e9 = 0.6 ms, four times.
TEST_CASE("tensor ranks reduce four times a block, in the open", "[exchange]") {
    Workload workload;
    Layer layer;
    layer.kind = LayerKind::attention;
    layer.input = layer.output = {1000, 1000};
    workload.model.layers = {layer};
    workload.training.parallel.tp = 4;
    ComputeProfile compute;
    compute.micro_batch = 10;
    CHECK_THAT(exchange(workload, compute).exposed_s, WithinRel(4 * 0.6e-3, 1e-9));
    workload.training.activation_checkpointing = "full";
    CHECK_THAT(exchange(workload, compute).exposed_s, WithinRel(6 * 0.6e-3, 1e-9));
    workload.training.activation_checkpointing = "none";
    workload.training.forward_only = true;
    CHECK_THAT(exchange(workload, compute).exposed_s, WithinRel(2 * 0.6e-3, 1e-9));
}

TEST_CASE("one GPU exchanges nothing", "[exchange]") {
    CHECK(exchange(billion(), long_compute(), Allocation{}).communication_s == 0);
}

TEST_CASE("a link without bandwidth is an error, where it is used", "[exchange]") {
    Allocation dead = four_gpus();
    dead.intra_node.bandwidth_Bps = 0;
    const Workload workload = billion();
    CHECK_FALSE(exchange_of(workload, layout_of(workload, dead), Software{}, long_compute()));
}
