// SPDX-License-Identifier: GPL-2.0-or-later
#include "model_test_support.h"

using namespace dlcast;

namespace {

Result<Workload> with_set(const std::string& json, std::vector<std::string> set) {
    WorkloadOverrides overrides;
    overrides.set = std::move(set);
    return workload_of(json, overrides);
}

const char* const vgg16 = R"({"model": "vgg16", "dataset": "imagenet-1k", "training": {"epochs": 90}})";

}  // namespace

TEST_CASE("a dotted key sets any key of the declaration", "[model]") {
    const auto w = with_set(vgg16, {"training.grad_accum=4", "dataset.classes=10"});
    REQUIRE(w);
    CHECK(w->training.grad_accum == 4);
    CHECK(w->dataset.classes == 10);
    CHECK(w->dataset.samples == 1'281'167);  // that of the name stays
}

TEST_CASE("an unknown first key is refused as in a file", "[model]") {
    CHECK_THAT(with_set(vgg16, {"traning.epochs=3"}).error().message,
               Catch::Contains("--set traning.epochs=3") && Catch::Contains("did you mean \"training\"?"));
    CHECK_THAT(with_set(vgg16, {"epochs=3"}).error().message, Catch::Contains("training.epochs="));
    CHECK_FALSE(with_set(vgg16, {"foo=1"}));
    CHECK_FALSE(with_set(vgg16, {"foo.bar=1"}));
}

TEST_CASE("a duration on the command line replaces the file's", "[model]") {
    const auto w = with_set(vgg16, {"training.tokens=3"});
    REQUIRE(w);
    CHECK_FALSE(w->training.epochs);
    CHECK(w->training.tokens == 3.0);
    WorkloadOverrides both;
    both.steps = 10;
    both.set = {"training.epochs=3"};
    CHECK_THAT(workload_of(vgg16, both).error().message, Catch::Contains("exactly one"));
}

TEST_CASE("the command line's optimizer and micro-steps win over the file's", "[model]") {
    WorkloadOverrides overrides;
    overrides.optimizer = "lamb";
    overrides.grad_accum = 8;
    const auto w = workload_of(vgg16, overrides);
    REQUIRE(w);
    CHECK(w->training.optimizer == Optimizer::lamb);
    CHECK(w->training.grad_accum == 8);
}
