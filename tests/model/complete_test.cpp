// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/complete.h"

#include <filesystem>
#include <iostream>

#include "model_test_support.h"
#include "predictor/base/json.h"

using namespace dlcast;

namespace {

struct Completed {
    Workload workload;
    std::string text;
};

Completed completed(const Declaration& declaration) {
    const auto workload = to_workload(declaration);
    if (!workload) FAIL(workload.error().message);
    return {*workload, write_json(complete(declaration, *workload), 2)};
}

// Written out and read back: nothing is assumed any more but what an importer said, the layers are the same, and the
// text is its own completion.
void check_round_trip(const Declaration& declaration) {
    const Completed first = completed(declaration);
    const auto again = parse_payload(first.text);
    if (!again) FAIL(again.error().message);
    const Completed second = completed(*again);
    CHECK(second.text == first.text);
    CHECK(second.workload.model.parameters == first.workload.model.parameters);
    CHECK(second.workload.model.trainable_parameters == first.workload.model.trainable_parameters);
    CHECK(forward_flops(second.workload.model) == forward_flops(first.workload.model));
    CHECK(second.workload.model.layers.size() == first.workload.model.layers.size());
    CHECK(second.workload.dataset.samples == first.workload.dataset.samples);
    CHECK(second.workload.training.optimizer == first.workload.training.optimizer);
    CHECK(second.workload.warnings == first.workload.warnings);
    for (const std::string& sentence : second.workload.assumed) {
        INFO(sentence);
        CHECK(sentence.find("not stated") == std::string::npos);
    }
}

}  // namespace

TEST_CASE("a completed zoo model reads back as itself, and still travels in 4 KiB", "[model][zoo][complete]") {
    CHECK(zoo_names().size() >= 120);
    std::size_t largest = 0;
    for (const std::string& name : zoo_names()) {
        CAPTURE(name);
        const auto declaration = read_model_argument(name);
        REQUIRE(declaration);
        check_round_trip(*declaration);
        const auto workload = to_workload(*declaration);
        const auto payload = to_payload({complete(*declaration, *workload), name});
        REQUIRE(payload);
        largest = std::max(largest, payload->size());
        if (name == "vgg16") CHECK(payload->size() <= 512);
        if (name == "Llama-2-70b") CHECK(payload->size() <= 1024);
    }
    CHECK(largest <= 4096);
}

TEST_CASE("files of other tools complete to themselves", "[model][formats][complete]") {
    const std::string folder = DLCAST_SOURCE_DIR "/../shared/inputs";
    if (!std::filesystem::exists(folder)) {
        std::cout << "SKIPPED: no " << folder << "\n";
        return;
    }
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
        CAPTURE(file.path());
        const auto declaration = read_model_argument(file.path());
        if (!declaration) FAIL(declaration.error().message);
        check_round_trip(*declaration);
    }
}

// ImageNet's 147.9 GB of a known data set, and what a file says as 1e9.
TEST_CASE("counts are written as whole numbers", "[model][complete]") {
    const auto declaration = parse_payload(R"({"model": "resnet18", "dataset": "imagenet-1k"})");
    const Value whole = complete(*declaration, *to_workload(*declaration));
    CHECK(whole.find("dataset")->find("bytes")->is_integer());
    CHECK_THAT(write_json(whole),
               Catch::Contains("\"bytes\":147900000000,") || Catch::Contains("\"bytes\":147900000000}"));
}

TEST_CASE("completing keeps what was stated, and adds what was taken", "[model][complete]") {
    const auto declaration =
        parse_payload(R"({"model": "bert-base-uncased", "dataset": {"name": "squad", "samples": 500},
        "training": {"epochs": 2, "optimizer": "lamb", "batch_size": 64, "batch_per": "global", "parallel": {"zero": 1}}})");
    REQUIRE(declaration);
    const Value whole = complete(*declaration, *to_workload(*declaration));
    const Value &training = *whole.find("training"), &dataset = *whole.find("dataset");
    CHECK(training.find("epochs")->as_number() == 2.0);
    CHECK(training.find("optimizer")->as_string() == "lamb");
    CHECK(training.find("batch_size")->as_integer() == 64);
    CHECK(training.find("batch_per")->as_string() == "global");
    CHECK(training.find("parallel")->find("zero")->as_integer() == 1);
    CHECK(training.find("precision")->as_string() == "fp32");
    CHECK(training.find("seq_len")->as_integer() == 384);  // SQuAD's windows
    CHECK_FALSE(training.find("image_size"));
    CHECK(dataset.find("samples")->as_integer() == 500);
    CHECK(dataset.find("validation_samples")->as_integer() == 10'784);
    CHECK_FALSE(complete(*parse_payload(R"({"model": "vgg16"})"), zoo_workload("vgg16")).find("dataset"));
}

// Layers of 200,000 x 8 pixels and of 2 x 10^8 tokens: more than a training may state.
TEST_CASE("what a written model has beyond a training's bounds reads back, too", "[model]") {
    for (const char* model : {R"({"input": [3, 200000, 8], "layers": [{"type": "conv2d", "out": 2, "kernel": 3}]})",
                              R"({"input": [200000000], "layers": [{"type": "embedding", "vocab": 9, "width": 2}]})"}) {
        INFO(model);
        const auto declared = parse_payload(std::string(R"({"model": )") + model + "}");
        REQUIRE(declared);
        const auto w = to_workload(*declared);
        REQUIRE(w);
        const auto again = parse_payload(write_json(complete(*declared, *w)));
        REQUIRE(again);
        REQUIRE(to_workload(*again));
        CHECK(to_workload(*again)->model.parameters == w->model.parameters);
    }
}
