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
    CHECK_THAT(w.assumed, Catch::VectorContains(std::string("batch_size 32 per GPU (not stated)")));
    CHECK_THAT(w.assumed, Catch::VectorContains(std::string("precision fp32 (not stated)")));
    CHECK_THAT(w.assumed, Catch::VectorContains(std::string("optimizer momentum (not stated)")));
}

TEST_CASE("faults of the training object name place, fault and remedy", "[model]") {
    CHECK(error_of("{\"model\": \"vgg16\",\n \"training\": {\"epoch\": 3}}") ==
          "model description:2:15: training: unknown key \"epoch\"; did you mean \"epochs\"?");
    CHECK_THAT(error_of(R"({"model": "vgg16", "training": {"epochs": 3, "steps": 3}})"),
               Catch::Contains("exactly one"));
    CHECK_THAT(error_of(R"({"model": "vgg16", "training": {"batch_size": -1}})"), Catch::Contains("batch_size is -1"));
    CHECK_THAT(error_of(R"({"model": "vgg16", "training": {"precision": "fp33"}})"),
               Catch::Contains("should be one of"));
    CHECK_THAT(error_of(R"({"model": "vgg61"})"), Catch::Contains("did you mean \"vgg1"));
    CHECK_THAT(error_of(R"({"model": "vgg16", "dataset": "imagenet-1kk"})"),
               Catch::Contains("did you mean \"imagenet-1k\""));
}
