// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/memory.h"

#include <catch2/catch.hpp>

#include "predictor/step/runtime_memory.h"
#include "predictor/step/stage_parameters.h"

using namespace dlcast;
using Catch::Matchers::WithinRel;

namespace {

Layer layer_of(LayerKind kind, std::int64_t tokens, std::int64_t width, std::uint64_t parameters, int block) {
    Layer layer;
    layer.kind = kind;
    layer.input = layer.output = {tokens, width};
    layer.parameters = parameters;
    layer.block = block;
    return layer;
}

// One product of `parameters` in all.
Workload model_of(std::uint64_t parameters, Precision precision, Optimizer optimizer) {
    Workload workload;
    workload.model.layers.push_back(layer_of(LayerKind::linear, 1, 1, parameters, -1));
    workload.model.parameters = workload.model.trainable_parameters = parameters;
    workload.training.precision = precision;
    workload.training.optimizer = optimizer;
    return workload;
}
Workload billion(Precision precision, Optimizer optimizer) { return model_of(1'000'000'000, precision, optimizer); }

MemoryEstimate memory(const Workload& workload, const Layout& layout = {}, std::int64_t samples = 1) {
    return estimate_memory(workload, layout, samples, Device{});
}
double states(const MemoryEstimate& m) { return m.weights_bytes + m.gradients_bytes + m.optimizer_bytes; }

}  // namespace

// ZeRO, section 3.1: Adam needs 16 bytes a parameter in mixed precision; in fp32 4 + 4 + 8 as well.
TEST_CASE("Adam takes sixteen bytes a parameter in every precision", "[memory]") {
    const auto precision =
        GENERATE(Precision::fp32, Precision::tf32, Precision::amp, Precision::fp16, Precision::bf16, Precision::fp8);
    CHECK_THAT(states(memory(billion(precision, Optimizer::adam))), WithinRel(16e9, 1e-12));
}

// Llama-2-7B has 6,738,415,616 parameters: 16 bytes each are 107.8 GB, the "112 GB" said of 7 billion.
TEST_CASE("a full fine-tuning of seven billion parameters needs more than any card of 80 GB for its states",
          "[memory]") {
    CHECK_THAT(states(memory(model_of(6'738'415'616, Precision::bf16, Optimizer::adamw))),
               WithinRel(107'814'649'856.0, 1e-12));
    CHECK_THAT(states(memory(model_of(7'000'000'000, Precision::bf16, Optimizer::adamw))), WithinRel(112e9, 1e-12));
}

// Megatron-LM: 2 for the weight, 4 for the gradient's sum, 12 for Adam in fp32.
TEST_CASE("gradients of 16 bits are summed over micro-steps in fp32", "[memory]") {
    Workload workload = billion(Precision::bf16, Optimizer::adam);
    workload.training.grad_accum = 4;
    CHECK_THAT(states(memory(workload)), WithinRel(18e9, 1e-12));
    workload.training.precision = Precision::fp32;  // its gradients are as wide already
    CHECK_THAT(states(memory(workload)), WithinRel(16e9, 1e-12));
}

TEST_CASE("plain SGD keeps no states", "[memory]") {
    CHECK_THAT(states(memory(billion(Precision::fp32, Optimizer::sgd))), WithinRel(8e9, 1e-12));
    CHECK_THAT(states(memory(billion(Precision::fp32, Optimizer::momentum))), WithinRel(12e9, 1e-12));
}

// ZeRO, figure 1, 16 bytes over 64 ranks: stage 1: 2 + 2 + 12/64; stage 2: 2 + 14/64; stage 3: 16/64.
TEST_CASE("ZeRO's stages divide as published", "[memory]") {
    Layout layout;
    const Workload workload = billion(Precision::fp16, Optimizer::adam);
    layout.optimizer_shards = 64;
    CHECK_THAT(states(memory(workload, layout)), WithinRel(4e9 + 12e9 / 64, 1e-12));
    layout.gradient_shards = 64;
    CHECK_THAT(states(memory(workload, layout)), WithinRel(2e9 + 14e9 / 64, 1e-12));
    layout.weight_shards = 64;
    CHECK_THAT(states(memory(workload, layout)), WithinRel(16e9 / 64, 1e-12));
}

TEST_CASE("frozen weights need neither gradient nor state", "[memory]") {
    Workload workload = billion(Precision::fp32, Optimizer::adam);
    workload.model.layers[0].trainable = false;
    CHECK_THAT(states(memory(workload)), WithinRel(4e9, 1e-12));
    workload = billion(Precision::fp32, Optimizer::adam);
    workload.training.forward_only = true;
    CHECK_THAT(states(memory(workload)), WithinRel(4e9, 1e-12));
}

// Llama-2-70B fine-tuned by adapters in fp8: one byte each of 69e9 frozen weights, no master copies.
TEST_CASE("frozen weights stay in fp8", "[memory]") {
    Workload workload = model_of(69'000'000'000, Precision::fp8, Optimizer::adam);
    workload.model.layers[0].trainable = false;
    CHECK_THAT(states(memory(workload)), WithinRel(69e9, 1e-12));
    workload.training.precision = Precision::bf16;
    CHECK_THAT(states(memory(workload)), WithinRel(138e9, 1e-12));
}

// Twelve blocks of 100 parameters between an embedding of 500 and a head of 300, on four stages: three blocks and the
// larger of the two, 800. Tensor ranks halve it.
TEST_CASE("a stage has its blocks, and the embeddings or the head", "[memory]") {
    ModelSpec model;
    model.layers.push_back(layer_of(LayerKind::embedding, 1, 1, 500, -1));
    for (int i = 0; i < 12; ++i) model.layers.push_back(layer_of(LayerKind::linear, 1, 1, 100, i));
    model.layers.push_back(layer_of(LayerKind::linear, 1, 1, 300, -1));
    Layout layout;
    CHECK(stage_parameters(model, layout).all == 2000);
    layout.pp = 4;
    CHECK(stage_parameters(model, layout).all == 800);
    CHECK(stage_parameters(model, layout).largest_block == 100);
    layout.pp = 5;  // stages of three blocks at most
    CHECK(stage_parameters(model, layout).all == 800);
    layout.tp = 2;
    CHECK(stage_parameters(model, layout).all == 400);
}

// 8 experts of 50 in all 400, beside 100 that every rank has: 4 ranks hold two experts each.
TEST_CASE("expert ranks divide experts alone", "[memory]") {
    ModelSpec model;
    model.layers.push_back(layer_of(LayerKind::linear, 1, 1, 100, 0));
    model.layers.push_back(layer_of(LayerKind::linear, 1, 1, 400, 0));
    model.layers.back().experts = 8;
    Layout layout;
    layout.ep = 4;
    CHECK(stage_parameters(model, layout).all == 200);
}

// Autocast keeps 2 bytes for each weight of a product beside the 4 of the weight itself.
TEST_CASE("autocast keeps a cast copy of the weights of products", "[memory]") {
    const double with = memory(billion(Precision::amp, Optimizer::adam)).workspace_bytes;
    const double without = memory(billion(Precision::fp32, Optimizer::adam)).workspace_bytes;
    CHECK_THAT(with - without, WithinRel(2e9, 1e-12));
}

// Of 10 blocks of 1e8 parameters in bf16: two gathered ahead, 0.4 GB, and one block's gradients, 0.2 GB.
TEST_CASE("sharded weights are whole while their block runs", "[memory]") {
    Workload workload;
    for (int i = 0; i < 10; ++i) workload.model.layers.push_back(layer_of(LayerKind::linear, 1, 1, 100'000'000, i));
    workload.training.precision = Precision::bf16;
    Layout layout;
    layout.weight_shards = layout.gradient_shards = layout.optimizer_shards = 8;
    CHECK_THAT(memory(workload, layout).communication_bytes, WithinRel(0.6e9, 1e-12));
}

// Two data ranks on one node: a ring and a tree of 24 channels with 9.2 MiB for each of three neighbours, 662.4 MiB,
// and buckets as large as 4 GB of gradients.
TEST_CASE("data ranks have channels and buckets", "[memory]") {
    Layout layout;
    layout.dp = 2;
    layout.data.ranks_per_node = 2;
    Device device;
    device.link = "nvlink3";
    device.compute_capability = 8.0;
    const MemoryEstimate m = estimate_memory(billion(Precision::fp32, Optimizer::adam), layout, 1, device);
    CHECK_THAT(m.communication_bytes, WithinRel(4e9 + 662.4 * (1 << 20), 1e-9));
    CHECK(channel_bytes(Layout{}, device) == 0.0);
}

TEST_CASE("activations grow with the batch, and what fits grows with the card", "[memory]") {
    Workload workload;
    workload.training.batch_size = 1;
    for (int i = 0; i < 16; ++i) workload.model.layers.push_back(layer_of(LayerKind::linear, 1024, 4096, 1, -1));
    const double one = memory(workload).activations_bytes;
    CHECK(one > 0);
    CHECK_THAT(memory(workload, {}, 8).activations_bytes, WithinRel(8 * one, 1e-12));
    Allocation allocation;
    allocation.device.memory_bytes = memory(workload, {}, 37).total_bytes();
    CHECK(*largest_micro_batch(workload, allocation) == 37);
    allocation.device.memory_bytes = memory(workload, {}, 1).total_bytes() * 0.99;
    CHECK(*largest_micro_batch(workload, allocation) == 0);
}
