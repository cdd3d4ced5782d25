// SPDX-License-Identifier: GPL-2.0-or-later
#include <filesystem>

#include "model_test_support.h"

using namespace dlcast;

TEST_CASE("the shipped vgg16.json is read from its file", "[model]") {
    const auto declaration = read_model_argument(DLCAST_SOURCE_DIR "/etc/models/vgg16.json");
    REQUIRE(declaration);
    const auto w = to_workload(*declaration);
    REQUIRE(w);
    CHECK(w->model.parameters == 138'357'544);
    CHECK(w->training.epochs == 90.0);
    CHECK(w->training.batch_size == 32);
    CHECK(w->dataset.samples == 1'281'167);
    const auto payload = to_payload(*declaration);
    REQUIRE(payload);
    CHECK(payload->size() <= 512);
    const auto again = parse_payload(*payload);
    REQUIRE(again);
    CHECK(to_workload(*again)->training.epochs == 90.0);
}

// The config.json of the model's page, its end-of-text tokens, ranges and versions included.
TEST_CASE("the config of Llama 2 70B travels in a kilobyte", "[model]") {
    const auto payload_of = [](const std::string& json) {
        const auto declaration = parse_payload(json);
        REQUIRE(declaration);
        CHECK(to_workload(*declaration)->model.parameters == 68'976'648'192);
        return *to_payload(*declaration);
    };
    CHECK(payload_of(R"({"model": "meta-llama/Llama-2-70b-hf", "training": {"epochs": 3}})").size() <= 1024);
    const std::string text =
        payload_of(R"({"_name_or_path": "meta-llama/Llama-2-70b-hf", "architectures": ["LlamaForCausalLM"],
        "bos_token_id": 1, "eos_token_id": 2, "hidden_act": "silu", "hidden_size": 8192, "initializer_range": 0.02,
        "intermediate_size": 28672, "max_position_embeddings": 4096, "model_type": "llama", "num_attention_heads": 64,
        "num_hidden_layers": 80, "num_key_value_heads": 8, "pretraining_tp": 1, "rms_norm_eps": 1e-05, "rope_scaling": null,
        "tie_word_embeddings": false, "torch_dtype": "float16", "transformers_version": "4.32.0.dev0", "use_cache": true,
        "vocab_size": 32000})");
    CHECK(text.size() <= 1024);
    CHECK_THAT(text, !Catch::Contains("initializer_range"));
}

TEST_CASE("every shipped model file can be described and says how long it trains", "[model]") {
    for (const auto& entry : std::filesystem::directory_iterator(DLCAST_SOURCE_DIR "/etc/models")) {
        INFO(entry.path());
        const auto declaration = read_model_argument(entry.path());
        REQUIRE(declaration);
        const auto w = to_workload(*declaration);
        REQUIRE(w);
        CHECK((w->training.epochs && w->dataset.samples > 0));
    }
}

TEST_CASE("overrides change the declaration, and a new duration replaces the old one", "[model]") {
    const auto declaration = read_model_argument(DLCAST_SOURCE_DIR "/etc/models/vgg16.json");
    REQUIRE(declaration);
    WorkloadOverrides o;
    o.steps = 100;
    o.precision = Precision::bf16;
    o.set = {"training.grad_accum=4", "training.parallel.tp=2", "dataset.samples=1000"};
    const auto w = to_workload(*declaration, o);
    REQUIRE(w);
    CHECK(w->training.steps == 100);
    CHECK_FALSE(w->training.epochs);
    CHECK(w->training.precision == Precision::bf16);
    CHECK(w->training.grad_accum == 4);
    CHECK(w->training.parallel.tp == 2);
    CHECK(w->dataset.samples == 1000);
    CHECK(w->dataset.name == "imagenet-1k");
}

TEST_CASE("every default taken is named", "[model]") {
    const auto w = zoo_workload("resnet50");
    CHECK_THAT(w.assumed, Catch::VectorContains(std::string("batch_size 32 per device (not stated)")));
    CHECK_THAT(w.assumed, Catch::VectorContains(std::string("precision fp32 (not stated)")));
    CHECK_THAT(w.assumed, Catch::VectorContains(std::string("optimizer momentum (not stated)")));
}

TEST_CASE("transformers' names of its AdamW are known", "[model]") {
    for (const char* name : {"adamw_torch", "adamw_torch_fused", "adamw_hf"}) {
        CAPTURE(name);
        CHECK(optimizer_from(name) == Optimizer::adamw);
    }
}

TEST_CASE("faults of the training object name place, fault and remedy", "[model]") {
    CHECK(error_of("{\"model\": \"vgg16\",\n \"training\": {\"epoch\": 3}}") ==
          "model description:2:15: training: unknown key \"epoch\"; did you mean \"epochs\"?");
    CHECK_THAT(error_of(R"({"model": "vgg16", "training": {"zero": 2}})"),
               Catch::Contains("unknown \"zero\"; did you mean \"parallel.zero\"?"));
    CHECK_THAT(error_of(R"({"model": "vgg16", "training": {"epochs": 3, "steps": 3}})"),
               Catch::Contains("at most one"));
    CHECK_THAT(error_of(R"({"model": "vgg16", "training": {"batch_size": -1}})"), Catch::Contains("batch_size is -1"));
    CHECK_THAT(error_of(R"({"model": "vgg16", "training": {"precision": "fp33"}})"),
               Catch::Contains("should be one of"));
    CHECK_THAT(error_of(R"({"model": "vgg61"})"), Catch::Contains("did you mean \"vgg1"));
    CHECK_THAT(error_of(R"({"model": "vgg16", "dataset": "imagenet-1kk"})"),
               Catch::Contains("did you mean \"imagenet-1k\""));
}
