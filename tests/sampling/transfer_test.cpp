// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/sampling/transfer.h"

#include <catch2/catch.hpp>

#include "tests/sampling/systems.h"

using namespace dlcast;
using Catch::Matchers::Contains;
using Catch::Matchers::WithinRel;

namespace {

std::vector<double> at(const std::vector<double>& values, const std::vector<std::size_t>& rows) {
    std::vector<double> out;
    for (const std::size_t i : rows) out.push_back(values[i]);
    return out;
}

}  // namespace

// Corners (0, 3, 12, 15) and one inside (5). Three unknown factors in logarithms need three measurements; two more
// steady them.
TEST_CASE("a machine that differs in both clocks' seconds is found from five measurements", "[sampling]") {
    const Configurations all = test::two_clocks();
    const auto effects = learn_effects(all, test::run_s(all, 6.0, 2.0, 1.0));
    REQUIRE(effects);
    const auto truth = test::run_s(all, 3.0, 2.0, 1.0);
    const std::vector<std::size_t> rows{0, 3, 5, 12, 15};
    const auto transfer = fit_transfer(*effects, test::rows_of(all, rows), at(truth, rows));
    REQUIRE(transfer);
    const auto predicted = predict_transfer(*effects, *transfer, all);
    REQUIRE(predicted);
    // Untouched, the source is off by up to 9 / 6 = 50 %. The terms follow a change of a factor of two to about 3 %.
    for (std::size_t i = 0; i < 16; ++i) CHECK_THAT((*predicted)[i], WithinRel(truth[i], 0.03));
}

// A ratio of 3 everywhere is the level alone; its prior of a factor of e gives way to a measurement of 1.5 % noise.
TEST_CASE("a machine three times as slow is found from two measurements", "[sampling]") {
    const Configurations all = test::two_clocks();
    const auto effects = learn_effects(all, test::run_s(all, 6.0, 2.0, 1.0));
    REQUIRE(effects);
    const auto truth = test::run_s(all, 18.0, 6.0, 3.0);
    const auto transfer = fit_transfer(*effects, test::rows_of(all, {1, 14}), at(truth, {1, 14}));
    REQUIRE(transfer);
    const auto predicted = predict_transfer(*effects, *transfer, all);
    REQUIRE(predicted);
    for (std::size_t i = 0; i < 16; ++i) CHECK_THAT((*predicted)[i], WithinRel(truth[i], 0.01));
    for (const double chance : transfer->inclusion) CHECK(chance < 0.9);
}

TEST_CASE("a measurement that is not above zero is refused with its place", "[sampling]") {
    const Configurations all = test::two_clocks();
    const auto effects = learn_effects(all, test::run_s(all, 6.0, 2.0, 1.0));
    REQUIRE(effects);
    const auto some = test::rows_of(all, {0, 1});
    CHECK_THAT(fit_transfer(*effects, some, {1.0, -1.0}).error().message, Contains("configuration 2"));
    CHECK_THAT(fit_transfer(*effects, some, {1.0}).error().message, Contains("one for each"));
    CHECK_FALSE(fit_transfer(*effects, test::rows_of(all, {}), {}));
}
