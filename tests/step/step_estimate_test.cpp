// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/step_estimate.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace dlcast;
using Catch::Matchers::WithinRel;

namespace {

// Every operator takes `seconds`, so that a step is a count of kernels.
class ConstantModel final : public LayerTimeModel {
public:
    explicit ConstantModel(double seconds) : seconds_(seconds) {}
    Result<std::vector<OperatorTime>> times(std::span<const OperatorQuery> queries) const override {
        ++calls;
        asked = queries.size();
        return std::vector<OperatorTime>(queries.size(), OperatorTime{seconds_, 0.0});
    }
    std::string by() const override { return "constant"; }
    std::string weights_id() const override { return ""; }
    mutable int calls = 0;
    mutable std::size_t asked = 0;

private:
    double seconds_;
};

Layer linear(const std::string& name, std::int64_t in, std::int64_t out) {
    Layer layer;
    layer.name = name;
    layer.kind = LayerKind::linear;
    layer.input = {in};
    layer.output = {out};
    layer.parameters = static_cast<std::uint64_t>(in * out);
    return layer;
}

// Three equal linear layers without bias: forward one product each; backward two each, but one where the data ends.
Workload three_layers() {
    Workload workload;
    workload.model.name = "three";
    for (int i = 0; i < 3; ++i) workload.model.layers.push_back(linear("fc" + std::to_string(i), 512, 512));
    workload.model.parameters = workload.model.trainable_parameters = 3 * 512 * 512;
    workload.training.batch_size = 64;
    workload.training.optimizer = Optimizer::sgd;
    return workload;
}

Allocation on(int nodes, int gpus_per_node) {
    Allocation allocation;
    allocation.device.name = "test";
    allocation.device.memory_bytes = 16e9;
    allocation.device.memory_bandwidth_Bps = 1e12;
    allocation.device.fp32_flops_per_s = 1e13;
    allocation.device.sm_count = 80;
    allocation.device.boost_clock_Hz = 1.5e9;
    allocation.nodes = nodes;
    allocation.gpus_per_node = gpus_per_node;
    allocation.intra_node = {0.0, 100e9};
    allocation.inter_node = {0.0, 10e9};
    return allocation;
}

StepEstimate estimate(const Workload& workload, const Allocation& allocation, const LayerTimeModel& model) {
    const auto steps = estimate_steps({{&workload, allocation}}, model);
    REQUIRE(steps);
    return steps->front();
}

}  // namespace

TEST_CASE("a step is forward, backward, update and what the host adds", "[step]") {
    const ConstantModel model(1e-3);
    const StepEstimate step = estimate(three_layers(), on(1, 1), model);
    CHECK(step.forward_s > 0);
    // Two products a layer against one, and one layer whose input needs no gradient: 5 to 3.
    CHECK_THAT(step.backward_s / step.forward_s, Catch::WithinAbs(5.0 / 3.0, 0.4));
    CHECK(step.optimizer_s > 0);
    CHECK(step.communication_s == 0);
    CHECK(step.step_s > step.forward_s + step.backward_s + step.optimizer_s);
    CHECK(step.samples_per_step == 64);
    REQUIRE(step.layers.size() == 3);
    CHECK(step.layers[1].backward_s > step.layers[1].forward_s);
    CHECK_THAT(step.layers[1].flops, WithinRel(2.0 * 64 * 512 * 512, 1e-12));
}

TEST_CASE("a layer's spread is the layer-time model's", "[step]") {
    class Unsure final : public LayerTimeModel {
    public:
        Result<std::vector<OperatorTime>> times(std::span<const OperatorQuery> queries) const override {
            return std::vector<OperatorTime>(queries.size(), OperatorTime{1e-3, 0.3});
        }
        std::string by() const override { return "unsure"; }
        std::string weights_id() const override { return ""; }
    };
    const StepEstimate step = estimate(three_layers(), on(1, 1), Unsure());
    // The first layer has forward and one gradient: two equal times, half of their errors shared.
    CHECK_THAT(step.layers[0].log_sd, WithinRel(0.3 * std::sqrt(0.5 + 0.5 / 2), 1e-12));
}

TEST_CASE("equal layers and equal devices are asked once, in one call", "[step]") {
    const ConstantModel model(1e-3);
    const Workload workload = three_layers();
    REQUIRE(estimate_steps({{&workload, on(1, 1)}}, model));
    const std::size_t alone = model.asked;
    REQUIRE(estimate_steps({{&workload, on(1, 1)}, {&workload, on(1, 4)}, {&workload, on(2, 4)}}, model));
    CHECK(model.asked == alone);
    CHECK(model.calls == 2);
    Allocation other = on(1, 1);
    other.device.name = "other";
    REQUIRE(estimate_steps({{&workload, on(1, 1)}, {&workload, other}}, model));
    CHECK(model.asked == 2 * alone);
}

TEST_CASE("micro-steps repeat forward and backward, not the update", "[step]") {
    const ConstantModel model(1e-3);
    Workload workload = three_layers();
    const StepEstimate one = estimate(workload, on(1, 1), model);
    workload.training.grad_accum = 4;
    const StepEstimate four = estimate(workload, on(1, 1), model);
    CHECK_THAT(four.forward_s, WithinRel(4 * one.forward_s, 1e-12));
    CHECK(four.backward_s >= 4 * one.backward_s);  // and gradients are summed
    CHECK_THAT(four.optimizer_s, WithinRel(one.optimizer_s, 1e-12));
    CHECK(four.samples_per_step == 256);
}

// 3 x 512 x 512 x 4 B = 3.1 MB; over 100 GB/s on 4 GPUs at best 2 x 3/4 x 3.1e6 / 1e11 = 47 us, plus messages.
TEST_CASE("data parallelism sends each gradient once", "[step]") {
    const ConstantModel model(1e-3);
    const StepEstimate step = estimate(three_layers(), on(1, 4), model);
    const double at_best_s = 2 * 0.75 * 3 * 512 * 512 * 4 / 100e9;
    CHECK(step.communication_s > at_best_s);
    CHECK(step.communication_s < 4 * at_best_s);
    CHECK(step.exposed_communication_s <= step.communication_s);
    CHECK(step.exposed_communication_s > 0);  // the last bucket has nothing to hide behind
    CHECK(step.samples_per_step == 256);
}

TEST_CASE("a global batch is shared by data ranks and micro-steps", "[step]") {
    const ConstantModel model(1e-3);
    Workload workload = three_layers();
    workload.training.global_batch = 512;
    workload.training.grad_accum = 2;
    const StepEstimate step = estimate(workload, on(1, 4), model);
    CHECK(step.samples_per_step == 512);
    CHECK_THAT(step.layers[0].flops, WithinRel(2.0 * 64 * 512 * 512, 1e-12));  // 512 / (4 x 2) samples
    workload.training.grad_accum = 1;
    workload.training.micro_batch = 32;
    const StepEstimate derived = estimate(workload, on(1, 4), model);
    CHECK(derived.samples_per_step == 512);
    CHECK(derived.micro_steps == 4);  // 512 / (4 x 32)
    CHECK_THAT(derived.layers[0].flops, WithinRel(2.0 * 32 * 512 * 512, 1e-12));
    workload.training.micro_batch = 0;
    workload.training.grad_accum = 2;
    workload.training.global_batch = 4;
    CHECK_FALSE(estimate_steps({{&workload, on(1, 4)}}, model));  // less than one sample a micro-step
}

TEST_CASE("a pipeline's bubble is (stages - 1) micro-steps", "[step]") {
    const ConstantModel model(1e-3);
    Workload workload = three_layers();
    workload.training.grad_accum = 8;
    const StepEstimate alone = estimate(workload, on(1, 1), model);
    workload.training.parallel.pp = 4;
    const StepEstimate piped = estimate(workload, on(1, 4), model);
    // GPUs that work together wait for the slowest: 2 % or so.
    CHECK_THAT(piped.forward_s, WithinRel(alone.forward_s / 4 * 11 / 8, 0.03));
}

TEST_CASE("a forward step has no backward, update or exchange", "[step]") {
    const ConstantModel model(1e-3);
    Workload workload = three_layers();
    workload.training.forward_only = true;
    const StepEstimate step = estimate(workload, on(1, 4), model);
    CHECK(step.backward_s == 0);
    CHECK(step.optimizer_s == 0);
    CHECK(step.communication_s == 0);
}

TEST_CASE("checkpointing runs forward again and frees memory", "[step]") {
    const ConstantModel model(1e-3);
    Workload workload = three_layers();
    const StepEstimate kept = estimate(workload, on(1, 1), model);
    workload.training.activation_checkpointing = "full";
    const StepEstimate again = estimate(workload, on(1, 1), model);
    CHECK_THAT(again.backward_s, WithinRel(kept.backward_s + kept.forward_s, 1e-2));
}

TEST_CASE("small layers are bound by launches", "[step]") {
    const ConstantModel model(1e-7);
    Workload workload = three_layers();
    workload.training.batch_size = 1;
    const StepEstimate step = estimate(workload, on(1, 1), model);
    CHECK(step.layers[0].bound == "launch");
    CHECK(step.forward_s > 3 * 3e-6);  // three kernels, a gap of 3 us behind each
}

TEST_CASE("a link that is used needs a bandwidth", "[step]") {
    const ConstantModel model(1e-3);
    Allocation dead = on(1, 4);
    dead.intra_node.bandwidth_Bps = 0;
    const Workload workload = three_layers();
    const auto steps = estimate_steps({{&workload, dead}}, model);
    REQUIRE_FALSE(steps);
    CHECK_THAT(steps.error().message, Catch::Contains("bandwidth"));
    dead.gpus_per_node = 1;
    CHECK(estimate_steps({{&workload, dead}}, model));
}

TEST_CASE("what the fit never saw spreads wider", "[step]") {
    const ConstantModel model(1e-3);
    StepWeights weights;
    weights.gpus = {"test"};
    weights.families = {"net"};
    weights.spread = {0.10, 0.15, 0.20};
    weights.deviations = {};  // constants that are known for sure
    Workload workload = three_layers();
    const auto log_sd = [&](const std::string& family, const std::string& gpu) {
        workload.model.family = family;
        Allocation allocation = on(1, 1);
        allocation.device.name = gpu;
        return estimate_steps({{&workload, allocation}}, model, weights)->front().log_sd;
    };
    CHECK_THAT(log_sd("net", "test"), WithinRel(0.10, 1e-12));
    CHECK_THAT(log_sd("net", "new"), WithinRel(0.15, 1e-12));
    CHECK_THAT(log_sd("other", "test"), WithinRel(0.20, 1e-12));
    CHECK_THAT(log_sd("other", "new"), WithinRel(std::sqrt(0.15 * 0.15 + 0.2 * 0.2 - 0.1 * 0.1), 1e-12));
}

TEST_CASE("a layout that does not multiply and a missing batch are errors", "[step]") {
    const ConstantModel model(1e-3);
    Workload workload = three_layers();
    workload.training.parallel.tp = 3;
    CHECK_FALSE(estimate_steps({{&workload, on(1, 4)}}, model));
    workload = three_layers();
    workload.training.batch_size = 0;
    CHECK_FALSE(estimate_steps({{&workload, on(1, 1)}}, model));
}

TEST_CASE("quantiles surround the median", "[step]") {
    const ConstantModel model(1e-3);
    const StepEstimate step = estimate(three_layers(), on(1, 1), model);
    CHECK(step.p05_s() < step.step_s);
    CHECK(step.step_s < step.p95_s());
    CHECK_THAT(step.p05_s() * step.p95_s(), WithinRel(step.step_s * step.step_s, 1e-9));
}
