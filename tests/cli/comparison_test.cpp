// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/comparison.h"

#include <catch2/catch.hpp>

#include "cli/installation.h"

using namespace dlcast;
using Catch::Matchers::Contains;

namespace {

Result<Comparison> compare(const CompareOptions& options) {
    static const DeviceCatalog catalog = *shipped_catalog();
    static const auto model = make_analytic_model();
    static const SiteConfig config;
    static const StepWeights steps;
    return make_comparison(options, {&config, &catalog, nullptr, model.get(), &steps});
}

CompareOptions resnet() {
    CompareOptions options;
    options.predict.model = "resnet50";
    options.predict.overrides.batch_size = 64;
    options.predict.overrides.epochs = 90;
    options.predict.overrides.dataset = "imagenet-1k";
    options.gpus = {"T4", "H100-SXM5-80GB", "V100-SXM2-32GB"};
    return options;
}

}  // namespace

TEST_CASE("GPU types are ordered by time", "[compare]") {
    const auto comparison = compare(resnet());
    REQUIRE(comparison);
    REQUIRE(comparison->gpus.size() == 3);
    CHECK(comparison->gpus[0].placement.gres == "H100-SXM5-80GB");
    CHECK(comparison->gpus[2].placement.gres == "T4");
    const std::string text = to_text(*comparison);
    CHECK_THAT(text, Contains("1 x T4") && Contains("GPU-hours") && Contains("of 80"));
    CHECK(to_value(*comparison).find("gpus")->as_array()[2].find("gpu")->as_string() == "T4");
}

TEST_CASE("a GPU named twice, by whatever names, is compared once", "[compare]") {
    CompareOptions options = resnet();
    options.gpus = {"T4", "tesla-t4", "t4"};
    const auto comparison = compare(options);
    REQUIRE(comparison);
    CHECK(comparison->gpus.size() == 1);
}

TEST_CASE("a GPU whose memory is too small comes last, and pale in the picture", "[compare]") {
    CompareOptions options = resnet();
    options.predict.overrides.batch_size = 300;
    options.gpus = {"T4", "H100-SXM5-80GB"};
    const auto comparison = compare(options);
    REQUIRE(comparison);
    CHECK_FALSE(comparison->gpus[1].fits());
    CHECK_THAT(to_text(*comparison), Contains("does not fit in memory"));
    CHECK_THAT(to_svg(*comparison), Contains("#ccc") && Contains("pale"));
}

TEST_CASE("without names one GPU of each generation is compared", "[compare]") {
    CompareOptions options = resnet();
    options.gpus.clear();
    const auto comparison = compare(options);
    REQUIRE(comparison);
    CHECK(comparison->gpus.size() == 8);
}

TEST_CASE("an unknown GPU is refused with the nearest", "[compare]") {
    CompareOptions options = resnet();
    options.gpus = {"H1000-SXM5-80GB"};
    const auto comparison = compare(options);
    REQUIRE_FALSE(comparison);
    CHECK_THAT(comparison.error().message, Contains("H100"));
}
