// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/quantile.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace dlcast;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

// Abramowitz & Stegun, Handbook of Mathematical Functions, table 26.5.
TEST_CASE("normal quantiles are those of the tables", "[quantile]") {
    const auto [q, z] = GENERATE(
        table<double, double>({{0.5, 0.0}, {0.95, 1.644854}, {0.05, -1.644854}, {0.975, 1.959964}, {0.99, 2.326348}}));
    CHECK_THAT(normal_quantile(q), WithinAbs(z, 1e-6));  // six printed places
}

TEST_CASE("quantiles outside of (0, 1) are clamped, not infinite", "[quantile]") {
    CHECK(std::isfinite(normal_quantile(0)));
    CHECK(std::isfinite(normal_quantile(1)));
}

TEST_CASE("half of a log-normal time lies below its median", "[quantile]") {
    CHECK_THAT(log_normal_quantile(100, 0.3, 0.5), WithinRel(100.0, 1e-9));
    CHECK_THAT(log_normal_quantile(100, 0.0, 0.95), WithinRel(100.0, 1e-12));
}
