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

// A step measured by itself: 0.04 + 0.0144 + 0.0064 = 0.0608 of 0.0608 + 0.05^2, 0.96051 of it, whether the kind of
// model is known or not; its sum of parts stays uncertain by 0.0608 x 0.0025 / 0.0633, and the next run by 0.0025 more:
// sqrt(0.0049013 / 0.0608) = 0.28392 of the spread.
TEST_CASE("a measured step moves its own model nearly wholly, and narrows its forecast", "[refine]") {
    const std::string family = GENERATE("bert", "");
    const auto factors = fit_step_factors({{"A", family, "net", std::log(2.0), 1, measured_step_log_sd}});
    CHECK_THAT(step_factor(factors, "A", family, "net"), WithinRel(std::pow(2.0, 0.96051), 1e-4));
    CHECK_THAT(refined_log_sd(factors, "A", family, "net", 0.1), WithinRel(0.028392, 1e-4));
    // 0.04 / 0.0633 for another model of another kind.
    CHECK_THAT(step_factor(factors, "A", "resnet", "other"), WithinRel(std::pow(2.0, 0.63191), 1e-4));
    CHECK(refined_log_sd(factors, "A", "resnet", "other", 0.1) == 0.1);
    CHECK(step_factor(factors, "B", family, "net") == 1.0);
}

// Half and twice the forecast: chi^2 = 2 (ln 2)^2 / 0.05^2 = 384.362, Birge's ratio (2 + 384.362) / 3 = 128.787. Runs
// to come stray by 0.05 sqrt(127.787) = 0.565214; the mean of 0 is known to 0.0025 x 128.787 / 2 = 0.160984, the sum of
// parts to 0.0608 x 0.160984 / 0.221784 = 0.0441325: sqrt((0.0441325 + 0.0025) / 0.0608) = 0.875775 of the spread.
TEST_CASE("cases of one model that lie apart widen its forecast as far", "[refine]") {
    std::vector<StepRatio> cases{{"A", "bert", "net", std::log(0.5), 1, measured_step_log_sd},
                                 {"A", "bert", "net", std::log(2.0), 1, measured_step_log_sd}};
    const auto factors = fit_step_factors(cases);
    CHECK_THAT(step_factor(factors, "A", "bert", "net"), WithinRel(1.0, 1e-9));
    CHECK_THAT(refined_log_sd(factors, "A", "bert", "net", 0.1), WithinRel(std::hypot(0.0875775, 0.565214), 1e-4));
    cases[1].log_ratio = cases[0].log_ratio;
    CHECK(model_factor(fit_step_factors(cases), "A", "bert", "net")->scatter_log_sd == 0.0);
}

// 0.5^2 - 0.1^2 = 0.24 beyond what runs usually differ by.
TEST_CASE("a model whose jobs scatter is forecast to scatter on", "[refine]") {
    const auto factors = fit_step_factors({{"A", "bert", "net", std::log(2.0), 100, 0.5}});
    CHECK_THAT(model_factor(factors, "A", "bert", "net")->scatter_log_sd, WithinRel(std::sqrt(0.24), 1e-9));
}

TEST_CASE("two networks of the same name are told apart by their parameters", "[refine]") {
    ModelSpec a, b;
    a.name = b.name = "net";
    a.parameters = 10;
    b.parameters = 11;
    CHECK(model_identity(a) == "net, 10 parameters");
    CHECK(model_identity(a) != model_identity(b));
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

    weights.factors.push_back({"round", "", std::log(1.2), 1, model_identity(workload.model), 0.5, 0.3});
    steps = *estimate_steps(queries, *model, weights);
    const double spread = steps.front().log_sd;
    REQUIRE(anchor_steps(queries, catalog, weights, steps));
    CHECK_THAT(steps.front().step_s, WithinRel(1.5 * plain_s, 1e-9));
    CHECK_THAT(steps.front().log_sd, WithinRel(std::hypot(0.5 * spread, 0.3), 1e-9));

    workload.training.measured = {{"round", 1, 0, 1e3 * plain_s}};
    steps = *estimate_steps(queries, *model, weights);
    REQUIRE(anchor_steps(queries, catalog, weights, steps));
    CHECK_THAT(steps.front().step_s, WithinRel(plain_s, 1e-9));
}
