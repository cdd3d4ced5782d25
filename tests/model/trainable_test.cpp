// SPDX-License-Identifier: GPL-2.0-or-later
#include "model_test_support.h"
#include "predictor/timing/lowering.h"

using namespace dlcast;

// Each of q, k, v, out of 32 layers gets 4096 x 16 + 16 x 4096 = 131,072: 16,777,216 in all.
TEST_CASE("LoRA trains the adapters of attention alone", "[model][trainable]") {
    const auto w = good_workload(R"({"model": "Llama-2-7b", "training": {"trainable": "lora:r=16"}})");
    CHECK(w.model.parameters == 6'738'415'616);
    CHECK(w.model.trainable_parameters == 32 * 4 * 131'072);
    const auto two = good_workload(R"({"model": "Llama-2-7b", "training": {"trainable": "lora:r=16,targets=q+v"}})");
    CHECK(two.model.trainable_parameters == 32 * 2 * 131'072);
}

TEST_CASE("LoRA without a target says what the model has", "[model][trainable][bad]") {
    CHECK_THAT(error_of(R"({"model": "resnet50", "training": {"trainable": "lora:r=8"}})"),
               Catch::Contains("lora adapts projections of attention, and resnet50 has none; name linear layers by "));
    CHECK_THAT(error_of(R"({"model": "bert-base-uncased", "training": {"trainable": "lora:r=8,targets=c_attn"}})"),
               Catch::Contains("lora's targets are c_attn, which no linear layer of this model is named; name some of "
                               "q, k, v, out, up, down, pooler, or \"all-linear\""));
    CHECK_THAT(error_of(R"({"model": "squeezenet1_0", "training": {"trainable": "lora:r=8,targets=fc"}})"),
               Catch::Contains("lora adapts linear layers, and this model has none but its head"));
}

// r (in + out) for each matrix; a fused one is adapted whole, and each expert by itself.
TEST_CASE("LoRA's targets may have PEFT's names", "[model][trainable]") {
    const auto trained = [](const std::string& model, const std::string& targets) {
        const auto w = good_workload("{\"model\": \"" + model + R"(", "training": {"trainable": "LoRA:r=8,targets=)" +
                                     targets + "\"}}");
        return static_cast<std::int64_t>(w.model.trainable_parameters);
    };
    const auto [model, targets, matrices] = GENERATE(table<std::string, std::string, std::int64_t>({
        {"Llama-2-7b", "q_proj+v_proj", 32 * 2 * 8192},
        {"Llama-2-7b", "Q_PROJ+k_proj+v_proj+o_proj", 32 * 4 * 8192},
        {"Llama-2-7b", "gate_proj+up_proj+down_proj", 32 * 3 * (4096 + 11008)},
        {"Llama-2-7b", "all-linear", 32 * (4 * 8192 + 3 * (4096 + 11008))},
        {"Phi-3-mini-4k", "qkv_proj+gate_up_proj", 32 * ((3072 + 3 * 3072) + (3072 + 2 * 8192))},
        {"gpt2", "c_attn", 12 * (768 + 2304)},
        {"gpt2", "c_proj", 12 * (2 * 768 + 3072 + 768)},
        {"gpt2", "attn.c_proj", 12 * 2 * 768},
        {"gpt2", "mlp.c_proj+c_fc", 12 * 2 * (3072 + 768)},
        {"pythia-1b", "query_key_value+dense", 16 * ((2048 + 6144) + 2 * 2048)},
        {"pythia-1b", "dense_h_to_4h+dense_4h_to_h", 16 * 2 * (2048 + 8192)},
        {"opt-125m", "q_proj+out_proj+fc1+fc2", 12 * (2 * 2 * 768 + 2 * (768 + 3072))},
        {"bert-base-uncased", "query+key+value", 12 * 3 * 2 * 768},
        {"bert-base-uncased", "dense", 12 * (2 * 768 + 2 * (768 + 3072))},
        {"t5-small", "q+v", 18 * 2 * 2 * 512},
        {"t5-small", "wi+wo", 12 * 2 * (512 + 2048)},
        {"google/vit-base-patch16-224", "query+value", 12 * 2 * 2 * 768},
        {"Mixtral-8x7B-v0.1", "w1+w2+w3", 32 * 8 * 3 * (4096 + 14336)},
    }));
    CAPTURE(model, targets);
    CHECK(trained(model, targets) == 8 * matrices);
}

TEST_CASE("LoRA's targets that are no layers of the model are named", "[model][trainable]") {
    const auto w =
        good_workload(R"({"model": "gpt2", "training": {"trainable": "lora:r=8,targets=c_attn+gate_proj"}})");
    CHECK_THAT(w.assumed,
               Catch::VectorContains(std::string(
                   "LoRA's targets gate_proj are left out (no linear layer of this model's blocks is named so)")));
}

TEST_CASE("a frozen base weight has no weight gradient, and backward stops below what trains", "[model][trainable]") {
    const auto w = good_workload(R"({"model": "vgg16", "training": {"trainable": "frozen:conv,fc7"}})");
    CHECK(w.model.trainable_parameters ==
          102'764'544 + 4'097'000);  // fc6 25,088 x 4,096 + 4,096; fc8 4,096 x 1,000 + 1,000
    const auto layers = lower(w.model, w.training, 1);
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const std::string& name = w.model.layers[i].name;
        INFO(name);
        if (name.starts_with("conv") || name.starts_with("pool")) CHECK(layers[i].backward.empty());
        if (name == "fc6") CHECK(layers[i].backward.size() == 1);  // nothing below needs its data gradient
        if (name == "fc7") {
            REQUIRE(layers[i].backward.size() == 1);
            CHECK(layers[i].backward[0].op.phase == Phase::backward_data);
        }
    }
}

// 15 % of 128 is 19.2, of 512 is 76.8: in fours 20 and 80, the counts of the public BERT recipes.
TEST_CASE("a masked language model predicts the masked positions alone", "[model]") {
    const auto [tokens, masked] = GENERATE(table<std::string, std::int64_t>({{"128", 20}, {"512", 80}}));
    const auto w = good_workload("{\"model\": \"bert-base-uncased\", \"training\": {\"seq_len\": " + tokens + "}}");
    CHECK(w.model.layers.back().input == Shape{masked, 30522});
}

TEST_CASE("the data set decides the head of an encoder", "[model]") {
    CHECK(good_workload(R"({"model": "bert-base-uncased", "dataset": "glue-mnli"})").model.layers.back().input ==
          Shape{3});
    CHECK(good_workload(R"({"model": "bert-base-uncased", "dataset": "squad"})").model.layers.back().input ==
          Shape{384, 2});
    // What writes text answers in words, unless the training says otherwise.
    CHECK(good_workload(R"({"model": "gpt2", "dataset": "squad"})").model.layers.back().input == Shape{384, 50257});
    CHECK(good_workload(R"({"model": "t5-small", "dataset": "squad"})").model.layers.back().input == Shape{384, 32128});
    CHECK(good_workload(R"({"model": "gpt2", "dataset": "squad", "training": {"task": "question_answering"}})")
              .model.layers.back()
              .input == Shape{384, 2});
}

// Rows 1024 x 2 active of 8 experts: 256 rows each.
TEST_CASE("a mixture of experts computes the active ones", "[model]") {
    const auto w = good_workload(R"({"model": "Mixtral-8x7B-v0.1", "training": {"seq_len": 1024}})");
    const auto layers = lower(w.model, w.training, 1);
    for (std::size_t i = 0; i < layers.size(); ++i) {
        if (w.model.layers[i].experts == 0) continue;
        CHECK(layers[i].forward[0].op.m == 256);
        CHECK(layers[i].forward[0].count == 8.0);
    }
}

// Rank 8 beside products of 4096 x 4096 and 768 x 768; BART's decoder has six blocks.
TEST_CASE("a target of LoRA may name one block, or one of two attentions", "[model]") {
    const auto trained = [](const std::string& model, const std::string& targets) {
        return good_workload("{\"model\": \"" + model + R"(", "training": {"trainable": "lora:r=8,targets=)" + targets +
                             "\"}}")
            .model.trainable_parameters;
    };
    CHECK(trained("Llama-2-7b-hf", "layers.0.self_attn.q_proj") == 8 * (4096 + 4096));
    CHECK(trained("Llama-2-7b-hf", "layers.1.self_attn.q_proj+layers.31.mlp.up_proj") ==
          8 * (4096 + 4096) + 8 * (4096 + 11008));
    CHECK(trained("bart-base", "encoder_attn.q_proj") == 6 * 8 * (768 + 768));
    CHECK(trained("bart-base", "self_attn.q_proj") == 12 * 8 * (768 + 768));
    CHECK(trained("bart-base", "q_proj") == 18 * 8 * (768 + 768));
}
