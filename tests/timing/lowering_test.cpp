// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/timing/lowering.h"

#include <catch2/catch.hpp>

#include "predictor/model/workload.h"

using namespace dlcast;

namespace {

Workload workload_of(const std::string& json) {
    const auto declaration = parse_payload(json);
    REQUIRE(declaration);
    const auto workload = to_workload(*declaration);
    REQUIRE(workload);
    return *workload;
}

int count_of(const std::vector<OperatorUse>& uses, OperatorKind kind) {
    double count = 0;
    for (const OperatorUse& use : uses)
        if (use.op.kind == kind) count += use.count;
    return static_cast<int>(count);
}

double flops_of(const std::vector<LayerOperators>& layers, bool forward, OperatorKind kind) {
    double sum = 0;
    for (const LayerOperators& layer : layers)
        for (const OperatorUse& use : forward ? layer.forward : layer.backward)
            if (use.op.kind == kind) sum += use.count * flops(use.op);
    return sum;
}

}  // namespace

TEST_CASE("the first layer has no data gradient, every other product has two backward", "[lowering]") {
    const auto w = workload_of(R"({"model": "vgg16"})");
    const auto layers = lower(w.model, w.training, 8);
    REQUIRE(layers.size() == w.model.layers.size());
    REQUIRE(layers[0].backward.size() == 1);
    CHECK(layers[0].backward[0].op.phase == Phase::backward_weight);
    CHECK(layers[0].forward[0].op.batch == 8);
    CHECK(layers[2].backward.size() == 2);
}

// Without the first convolution's data gradient: 2 (all) - 1 (first) of the forward FLOPs, exactly, convolutions being
// equal work in each direction.
TEST_CASE("backward of the convolutions is twice forward but for the first", "[lowering]") {
    const auto w = workload_of(R"({"model": "vgg16"})");
    const auto layers = lower(w.model, w.training, 1);
    const double forward = flops_of(layers, true, OperatorKind::conv2d);
    CHECK(flops_of(layers, false, OperatorKind::conv2d) == 2 * forward - flops(layers[0].forward[0].op));
}

TEST_CASE("the update holds all trained parameters once", "[lowering]") {
    const auto w = workload_of(R"({"model": "vgg16", "training": {"optimizer": "adam"}})");
    const auto update = lower_update(w.model, w.training);
    REQUIRE(update.size() == 1);
    CHECK(update[0].op.rows * update[0].op.cols == 138'357'544);
    CHECK(update[0].op.optimizer == Optimizer::adam);
}

TEST_CASE("forward alone has neither backward nor dropout nor loss", "[lowering]") {
    auto w = workload_of(R"({"model": "vgg16"})");
    w.training.forward_only = true;
    for (const LayerOperators& layer : lower(w.model, w.training, 1)) {
        CHECK(layer.backward.empty());
        CHECK(count_of(layer.forward, OperatorKind::dropout) == 0);
        CHECK(count_of(layer.forward, OperatorKind::loss) == 0);
    }
}

// 224 x 224 x 64 fp32 of conv1_1 would be overwritten by its relu: kept once, as relu1_1's output: 12,845,056 bytes.
TEST_CASE("a convolution and its relu keep one tensor for backward", "[lowering]") {
    const auto w = workload_of(R"({"model": "vgg16"})");
    const auto saved = saved_activation_bytes(w.model, w.training);
    CHECK(saved[0] == 0.0);
    CHECK(saved[1] == 224.0 * 224 * 64 * 4);
}
