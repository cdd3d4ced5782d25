// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/explanation.h"

#include <fmt/format.h>

#include "predictor/model/overrides.h"
#include "tests/model/model_test_support.h"
#include "tests/scratch_folder.h"

using namespace dlcast;

namespace {

// Value and origin of one setting, as `dlcast explain --json` prints it.
std::string setting(const Result<Declaration>& declaration, const std::string& key) {
    REQUIRE(declaration);
    const auto workload = to_workload(*declaration);
    if (!workload) FAIL(workload.error().message);
    const Value explained = explain_value(*declaration, *workload);
    for (const Value& one : explained.find("training")->as_array())
        if (one.find("key")->as_string() == key)
            return one.find("value")->as_string() + ", " + one.find("origin")->as_string();
    return "";
}

std::string setting(const std::string& json, const std::string& key) { return setting(parse_payload(json), key); }

}  // namespace

TEST_CASE("every value of a training is explained by where it came from", "[explain]") {
    const std::string plain = R"({"model": "resnet18", "dataset": "cifar10"})";
    CHECK(setting(plain, "batch_per") == "gpu, default");
    CHECK(setting(plain, "trainable") == "all, default");
    CHECK(
        setting(
            R"({"model": "resnet18", "training": {"batch_size": 64, "batch_per": "global", "trainable": "frozen:layer1"}})",
            "batch_per") == "global, model description:1:67: stated");
    CHECK(setting(R"({"model": "resnet18", "training": {"trainable": "frozen:layer1"}})", "trainable") ==
          "frozen:layer1, model description:1:49: stated");
}

TEST_CASE("degrees, validation, checkpoints and measured steps are explained, too", "[explain]") {
    const std::string plain = R"({"model": "resnet18"})";
    CHECK(setting(plain, "eval_every") == "no validation, default");
    CHECK(setting(plain, "checkpoint_minutes") == "no checkpoints, default");
    CHECK(setting(plain, "parallel.zero").empty());
    const std::string stated = R"({"model": "resnet18", "training": {"eval_every": "epoch", "checkpoint_minutes": 30,
"parallel": {"zero": 2, "sp": true},
"measured": [{"gpu": "v100", "step_ms": 120.5}, {"gpu": "t4", "gpus": 2, "step_ms": 300}]}})";
    CHECK(setting(R"({"model": "bert-base-uncased", "training": {"task": "masked_lm"}})", "task") ==
          "masked_lm, model description:1:53: stated");
    CHECK(setting(stated, "eval_every") == "epoch, model description:1:50: stated");
    CHECK(setting(stated, "checkpoint_minutes") == "30, model description:1:81: stated");
    CHECK(setting(stated, "parallel.zero") == "2, model description:2:22: stated");
    CHECK(setting(stated, "parallel.sp") == "true, model description:2:31: stated");
    CHECK(setting(stated, "measured") == "120.5 ms on 1 x v100, model description:3:14: stated");
    const auto declaration = parse_payload(plain);
    REQUIRE(declaration);
    const auto trained = with_training(*declaration, "parallel.fsdp=full", "--train");
    REQUIRE(trained);
    const auto workload = to_workload(*trained);
    REQUIRE(workload);
    CHECK_THAT(explain_text(*trained, *workload), Catch::Contains("parallel.fsdp               full                    "
                                                                  "stated on the command line\n"));
}

TEST_CASE("a value of a file that the model file names is explained by its place there", "[explain]") {
    const ScratchFolder scratch;
    const std::string training = scratch.write("ds_config.json", R"({"bf16": {"enabled": true}})");
    const auto declaration =
        read_model_argument(scratch.write("ds.json", R"({"model": "resnet18", "training": "ds_config.json"})"));
    CHECK(setting(declaration, "precision") == "bf16, " + training + ":1:10: stated");
}

// CIFAR-10's images have 32 pixels, ResNet's own 224; SQuAD's windows 384 tokens, BERT's positions 512.
TEST_CASE("the size of a sample is explained as the data set's or the model's", "[explain]") {
    CHECK(setting(R"({"model": "resnet18", "dataset": "cifar10"})", "image_size") == "32, the data set's");
    CHECK(setting(R"({"model": "resnet18"})", "image_size") == "224, the model's");
    CHECK(setting(R"({"model": "bert-base-uncased", "dataset": "squad"})", "seq_len") == "384, the data set's");
    CHECK(setting(R"({"model": "bert-base-uncased"})", "seq_len") == "512, the model's, at most 1024");
    CHECK(setting(R"({"model": {"input": [3, 32, 32], "layers": [{"type": "relu"}]}, "dataset": "cifar10"})",
                  "image_size") == "32, the model's");
    CHECK(setting(R"({"model": "gpt2", "dataset": {"tokens": 102400}})", "dataset.samples") ==
          "100, the data set's tokens by seq_len");
}

// 335,141,888 is the published count of BERT large; what a head adds is trained, too, and the table shows it.
TEST_CASE("the rows of an explained model add up to its published count and its head", "[explain]") {
    const auto declaration = parse_payload(R"({"model": "bert-large-uncased"})");
    REQUIRE(declaration);
    const auto workload = to_workload(*declaration);
    REQUIRE(workload);
    const Value explained = explain_value(*declaration, *workload);
    std::int64_t rows = 0;
    for (const Value& layer : explained.find("layers")->as_array()) rows += layer.find("parameters")->as_integer();
    const std::int64_t published = explained.find("parameters")->as_integer(),
                       head = explained.find("head_parameters")->as_integer();
    CHECK(published == 335'141'888);
    CHECK(head > 0);
    CHECK(rows == published + head);
    CHECK(explained.find("trainable_parameters")->as_integer() == rows);
    CHECK_THAT(explain_text(*declaration, *workload),
               Catch::Contains(fmt::format("335141888  published count, without the {} of the head\n", head)));
}
