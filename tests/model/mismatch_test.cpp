// SPDX-License-Identifier: GPL-2.0-or-later
#include "model_test_support.h"

using namespace dlcast;

TEST_CASE("what the model or the data cannot use is a warning", "[model]") {
    const auto [json, said] = GENERATE(table<std::string, std::string>({
        {R"({"model": "bert-base-uncased", "dataset": "imagenet-1k"})", "imagenet-1k holds images"},
        {R"({"model": "resnet50", "dataset": "squad"})", "squad holds text"},
        {R"({"model": "resnet50", "training": {"seq_len": 128}})", "seq_len 128 has no effect"},
        {R"({"model": "gpt2", "training": {"image_size": 224}})", "image_size 224 has no effect"},
        {R"({"model": "resnet50", "training": {"image_size": 7}})", "images of 7 pixels"},
        {R"({"model": "resnet50", "dataset": {"samples": 9}, "training": {"eval_every": "epoch"}})",
         "validation_samples"},
        {R"({"model": "resnet50", "training": {"parallel": {"ep": 2}}})",
         "ep 2 has no effect: resnet50 has no experts"},
        {R"({"model": "gpt2", "training": {"parallel": {"sp": true}}})", "sp has no effect without tensor ranks"},
        {R"({"model": "resnet50", "training": {"parallel": {"ep": 2}}})",
         "ep 2 has no effect: resnet50 has no experts"},
        {R"({"model": "gpt2", "training": {"parallel": {"sp": true}}})", "sp has no effect without tensor ranks"},
    }));
    CAPTURE(json);
    const Workload w = good_workload(json);
    REQUIRE(w.warnings.size() == 1);
    CHECK_THAT(w.warnings[0], Catch::Contains(said));
}

// 8 x 8 stays 8 x 8 under a padded window; a sequence of one column is no image.
TEST_CASE("a small image that stays as large is not warned of", "[model]") {
    CHECK(good_workload(R"({"model": {"input": [3, 8, 8], "layers": [
        {"type": "conv2d", "out": 4, "kernel": 3, "padding": 1}, {"type": "global_avg_pool"}, {"type": "flatten"},
        {"type": "linear", "out": 2}]}})")
              .warnings.empty());
    CHECK(good_workload(R"({"model": {"input": [5, 2, 8], "layers": [{"type": "gru", "hidden": 16, "at": [5, 8]}]}})")
              .warnings.empty());
}

TEST_CASE("a declaration that fits together is not warned of", "[model]") {
    CHECK(good_workload(R"({"model": "resnet50", "dataset": "imagenet-1k", "training": {"eval_every": "epoch"}})")
              .warnings.empty());
    CHECK(good_workload(R"({"model": "gpt2", "dataset": "wikitext-103", "training": {"seq_len": 512}})")
              .warnings.empty());
    CHECK(good_workload(R"({"model": "Mixtral-8x7B", "training": {"parallel": {"ep": 2, "tp": 2, "sp": true}}})")
              .warnings.empty());
}
