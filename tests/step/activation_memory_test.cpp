// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/activation_memory.h"

#include <catch2/catch.hpp>

#include "tests/model/model_test_support.h"

using namespace dlcast;
using Catch::Matchers::WithinRel;

namespace {

// GPT-2 medium in half precision: s = 1024, h = 1024, a = 16.
constexpr double sh = 1024.0 * 1024;

Workload gpt2(const std::string& training = "") {
    return good_workload(R"({"model": "gpt2-medium", "training": {"precision": "fp16", "seq_len": 1024)" + training +
                         "}}");
}

// What one block adds.
double kept_a_block(const Workload& whole, const Layout& layout = {}) {
    Workload shorter = whole;
    std::erase_if(shorter.model.layers, [](const Layer& layer) { return layer.block == 3; });
    return activation_memory(whole, layout).kept_bytes - activation_memory(shorter, layout).kept_bytes;
}

}  // namespace

// Korthikanti et al., arXiv:2205.05198, table 2, bytes a layer: s b h (34 + 5 a s / h), 5 a s / h = 80.
TEST_CASE("a block keeps the published bytes under each kind of parallelism and checkpointing", "[activation_memory]") {
    CHECK_THAT(kept_a_block(gpt2()), WithinRel(sh * (34 + 80), 1e-12));
    Layout layout;
    layout.tp = 4;
    CHECK_THAT(kept_a_block(gpt2(), layout), WithinRel(sh * (10 + 24.0 / 4 + 80.0 / 4), 1e-12));
    layout.sequence_parallel = true;
    CHECK_THAT(kept_a_block(gpt2(), layout), WithinRel(sh * (34 + 80) / 4, 1e-12));
    const Workload selective = gpt2(R"(, "activation_checkpointing": "selective")");
    CHECK_THAT(kept_a_block(selective, layout), WithinRel(sh * 34 / 4, 1e-12));
    layout = {};
    CHECK_THAT(kept_a_block(gpt2(R"(, "activation_checkpointing": "full")")), WithinRel(2 * sh, 1e-12));
    layout.cp = 2;
    CHECK_THAT(kept_a_block(gpt2(), layout), WithinRel(sh * (34 + 80) / 2, 1e-12));
}

// Llama's attention is fused: of its scores it keeps one fp32 sum a head and query, so selective checkpointing has
// hardly anything to drop.
TEST_CASE("fused attention keeps no scores", "[activation_memory]") {
    const std::string llama =
        R"({"model": "llama-2-7b", "training": {"framework": "megatron", "precision": "bf16", "seq_len": 4096)";
    const double plain = kept_a_block(good_workload(llama + "}}"));
    const double selective = kept_a_block(good_workload(llama + R"(, "activation_checkpointing": "selective"}})"));
    CHECK_THAT(plain - selective, WithinRel(4.0 * 32 * 4096, 1e-12));
    // Inputs of two norms and of three products, queries, keys and values, attention's sums; gate, up, act and their
    // product of 11008: 2 bytes each.
    CHECK_THAT(selective, WithinRel(4096.0 * (2 * (4 + 3 + 1) * 4096 + 2 * 4 * 11008), 1e-12));
}

// By operator, as PyTorch does it: a block keeps its input, what attention leaves and every second of its seven
// products; of two blocks those are q, v, gate, down and k, out, up: 5 and 2 of them 4096 wide, 11008 the others.
TEST_CASE("selective checkpointing of fused attention keeps every second product", "[activation_memory]") {
    Workload workload = good_workload(
        R"({"model": "llama-2-7b", "training": {"precision": "bf16", "seq_len": 4096, "activation_checkpointing": "selective"}})");
    std::erase_if(workload.model.layers, [](const Layer& layer) { return layer.block < 0 || layer.block > 1; });
    const double kept = activation_memory(workload, {}).kept_bytes;
    CHECK_THAT(kept, WithinRel(2 * 4096.0 * (2 * 4096 + 2 * 4096 + 5 * 4096 + 2 * 11008), 1e-12));
}

// 1F1B: the first of 4 stages holds 4 micro-batches of a quarter of the blocks each, as much as one GPU with all of
// them; of 2 micro-batches half; two interleaved chunks hold 1 + 3/8 as many (Korthikanti et al., section 4.2.3).
TEST_CASE("a pipeline's first stage holds what is in flight", "[activation_memory]") {
    Workload workload = gpt2();
    std::erase_if(workload.model.layers, [](const Layer& layer) { return layer.block < 0; });
    const double whole = activation_memory(workload, {}).kept_bytes;
    Layout layout;
    layout.pp = 4;
    workload.training.grad_accum = 16;
    CHECK_THAT(activation_memory(workload, layout).kept_bytes, WithinRel(whole, 1e-12));
    workload.training.grad_accum = 2;
    CHECK_THAT(activation_memory(workload, layout).kept_bytes, WithinRel(whole / 2, 1e-12));
    workload.training.grad_accum = 16;
    layout.vp = 2;
    CHECK_THAT(activation_memory(workload, layout).kept_bytes, WithinRel(whole * 1.375, 1e-12));
}

// A frozen product needs its weight alone for its input's gradient: adapters on attention keep nothing of the
// perceptron but the input of its activation and its gated product.
TEST_CASE("frozen products keep no input", "[activation_memory]") {
    const std::string llama = R"({"model": "llama-2-7b", "training": {"precision": "bf16", "seq_len": 4096)";
    const double full = kept_a_block(good_workload(llama + "}}"));
    const double lora = kept_a_block(good_workload(llama + R"(, "trainable": "lora:r=16"}})"));
    CHECK(lora < 0.85 * full);
    CHECK(lora > 0.5 * full);
}

// Nothing repeats: 16 equal layers in 4 segments keep 4 borders and run 4 layers again, half of all.
TEST_CASE("a chain without blocks is checkpointed by its square root", "[activation_memory]") {
    Workload workload;
    Layer layer;
    layer.kind = LayerKind::linear;
    layer.input = layer.output = {64};
    layer.parameters = 1;
    workload.model.layers.assign(16, layer);
    const double all = activation_memory(workload, {}).kept_bytes;
    workload.training.activation_checkpointing = "full";
    CHECK_THAT(activation_memory(workload, {}).kept_bytes, WithinRel(all / 2, 1e-12));
}
