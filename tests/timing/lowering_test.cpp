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

// Korthikanti et al., arXiv:2205.05198, equation 1: a layer keeps s b h (34 + 5 a s / h) bytes in half precision. GPT-2
// medium: s = 1024, h = 1024, a = 16: 1024 x 1024 x (34 + 80) = 119,537,664.
TEST_CASE("a transformer block keeps the published bytes of activations", "[lowering]") {
    const auto w = workload_of(R"({"model": "gpt2-medium", "training": {"precision": "fp16", "seq_len": 1024}})");
    const auto saved = saved_activation_bytes(w.model, w.training);
    double block = 0;
    for (std::size_t i = 0; i < saved.size(); ++i)
        if (w.model.layers[i].block == 3) block += saved[i];
    CHECK(block == 119'537'664.0);
}

// Autocast: the norm in fp32 and its cast; the weight's cast beside each product; probabilities cast behind the
// softmax.
TEST_CASE("autocast keeps norms and softmax in fp32 and casts between", "[lowering]") {
    const auto w = workload_of(R"({"model": "bert-base-uncased", "training": {"precision": "amp", "seq_len": 128}})");
    const auto layers = lower(w.model, w.training, 4);
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const Layer& layer = w.model.layers[i];
        INFO(layer.name);
        for (const OperatorUse& use : layers[i].forward) {
            if (use.op.kind == OperatorKind::layer_norm || use.op.kind == OperatorKind::softmax)
                CHECK(use.op.precision == Precision::fp32);
            if (use.op.kind == OperatorKind::linear || use.op.kind == OperatorKind::bmm)
                CHECK(use.op.precision == Precision::amp);
        }
        if (layer.kind == LayerKind::linear || layer.kind == LayerKind::layer_norm)
            CHECK(count_of(layers[i].forward, OperatorKind::copy) == 1);
    }
}

// 4 b h s s d forward, half of it under the mask: gpt2 with 12 heads of 64 and 1024 tokens: 4 x 12 x 1024 x 512 x 64.
TEST_CASE("fused attention is one kernel, halved by a causal mask", "[lowering]") {
    const auto w =
        workload_of(R"({"model": "gpt2", "training": {"framework": "pytorch+composer", "precision": "bf16"}})");
    const auto layers = lower(w.model, w.training, 1);
    CHECK(flops_of(layers, true, OperatorKind::attention) == 12.0 * 4 * 12 * 1024 * 512 * 64);
    CHECK(flops_of(layers, false, OperatorKind::attention) == 2.5 * 12.0 * 4 * 12 * 1024 * 512 * 64);
    CHECK(flops_of(layers, true, OperatorKind::bmm) == 0.0);
}

// Tensor units read channels last; NCHW tensors are turned on the way in and out.
TEST_CASE("half-precision convolutions turn NCHW tensors", "[lowering]") {
    const auto [layout, copies] = GENERATE(table<std::string, int>({{"nchw", 2}, {"nhwc", 0}}));
    const auto w =
        workload_of(R"({"model": "resnet50", "training": {"precision": "bf16", "layout": ")" + layout + "\"}}");
    CHECK(count_of(lower(w.model, w.training, 1)[0].forward, OperatorKind::copy) == copies);
}

// 0.5 x (1 + tanh(c (x + 0.044715 x^3))): three scalings, a power, an addition, tanh, an added scalar and a product.
TEST_CASE("a compiler makes one kernel of an activation written in parts", "[lowering]") {
    const auto [compile, kernels] = GENERATE(table<std::string, int>({{"false", 8}, {"true", 1}}));
    const auto w = workload_of(R"({"model": "gpt2", "training": {"compile": )" + compile + "}}");
    const auto layers = lower(w.model, w.training, 1);
    for (std::size_t i = 0; i < layers.size(); ++i)
        if (w.model.layers[i].kind == LayerKind::activation)
            CHECK(count_of(layers[i].forward, OperatorKind::elementwise) == kernels);
}
