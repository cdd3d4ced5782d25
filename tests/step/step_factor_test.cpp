// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/step_factor.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "predictor/step/step_anchor.h"
#include "tests/step/step_test_support.h"

using namespace dlcast;
using Catch::Matchers::WithinRel;

// The GPU's and the family's share of the variance of one ratio: (0.2^2 + 0.12^2) / (0.2^2 + 0.12^2 + 0.08^2 + 0.1^2)
// = 0.0544 / 0.0708 = 0.76836; another family on that GPU gets the GPU's alone, 0.04 / 0.0708 = 0.56497.
TEST_CASE("one model's ratio moves its own kind most, other kinds on the GPU less, other GPUs not at all", "[refine]") {
    const auto factors = fit_step_factors({{"A", "bert", "bert-base", std::log(2.0), 1}});
    CHECK_THAT(step_factor(factors, "A", "bert"), WithinRel(std::pow(2.0, 0.76836), 1e-4));
    CHECK_THAT(step_factor(factors, "A", "resnet"), WithinRel(std::pow(2.0, 0.56497), 1e-4));
    CHECK(step_factor(factors, "B", "bert") == 1.0);
}

// With 400 runs the last part shrinks to 0.1^2 / 400: 0.0544 / (0.0544 + 0.0064 + 0.000025) = 0.89436.
TEST_CASE("many runs of a model count for more, up to what models of one kind differ by", "[refine]") {
    const auto factors = fit_step_factors({{"A", "bert", "bert-base", std::log(2.0), 400}});
    CHECK_THAT(step_factor(factors, "A", "bert"), WithinRel(std::pow(2.0, 0.89436), 1e-4));
}

// Each of two models: 0.0144 + (0.0064 + 0.01) / 2 = 0.0226 beside the GPU's part. log(4)^2 = 1.92181 is believed to
// 1.92181 / 1.94441 = 0.98838 for the GPU, and 0.0144 / 0.0226 = 0.63717 of the rest for the family.
TEST_CASE("a device that two models put far from its forecasts is taken to be there", "[refine]") {
    const double ratio = std::log(4.0);
    const auto factors = fit_step_factors({{"cpu", "cnn", "a", ratio, 1}, {"cpu", "cnn", "b", ratio, 1}});
    CHECK_THAT(step_factor(factors, "cpu", "other"), WithinRel(std::pow(4.0, 0.98838), 1e-4));
    CHECK_THAT(step_factor(factors, "cpu", "cnn"), WithinRel(std::pow(4.0, 0.98838 + 0.01162 * 0.63717), 1e-4));
}

TEST_CASE("a site's factor scales a forecast unless the workload states steps of its own", "[refine]") {
    DeviceCatalog catalog;
    catalog.add(test::round_device(), {});
    Workload workload = test::linear_net(4, 2048, 512);
    Allocation allocation;
    allocation.device = test::round_device();
    const std::vector<StepQuery> queries{{&workload, allocation}};
    const auto model = make_analytic_model();
    const double plain_s = estimate_steps(queries, *model)->front().step_s;
    StepWeights weights;
    weights.factors = {{"round", "", std::log(1.25), 3}};
    auto steps = *estimate_steps(queries, *model, weights);
    REQUIRE(anchor_steps(queries, catalog, weights, steps));
    CHECK_THAT(steps.front().step_s, WithinRel(1.25 * plain_s, 1e-9));

    workload.training.measured = {{"round", 1, 0, 1e3 * plain_s}};
    steps = *estimate_steps(queries, *model, weights);
    REQUIRE(anchor_steps(queries, catalog, weights, steps));
    CHECK_THAT(steps.front().step_s, WithinRel(plain_s, 1e-9));
}
