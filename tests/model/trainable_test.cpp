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
               Catch::Contains("lora adapts projections of attention, and resnet50 has none; freeze layers by"));
    CHECK_THAT(error_of(R"({"model": "bert-base-uncased", "training": {"trainable": "lora:r=8,targets=c_attn"}})"),
               Catch::Contains("lora's targets are c_attn, which no projection of attention is named; name some of q, "
                               "k, v, out"));
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
