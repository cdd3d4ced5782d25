// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/sampling/shift.h"

#include <catch2/catch.hpp>

using namespace dlcast;
using Catch::Matchers::WithinRel;

// 3 + 2 s through s = 1 and s = 4 gives 5 and 11; at s = 2 it is 7. The ridge of 1e-9 costs some 1e-8.
TEST_CASE("a linear shift needs two measurements of a linear relation", "[sampling]") {
    const auto y = linear_shift({1, 2, 4}, {0, 2}, {5, 11});
    CHECK_THAT(y[0], WithinRel(5.0, 1e-6));
    CHECK_THAT(y[1], WithinRel(7.0, 1e-6));
    CHECK_THAT(y[2], WithinRel(11.0, 1e-6));
}

// 2 s^2 is a line in logarithms: at s = 8 it is 128.
TEST_CASE("a non-linear shift follows a power law", "[sampling]") {
    const auto y = nonlinear_shift({1, 2, 4, 8}, {0, 1, 2}, {2, 8, 32});
    CHECK_THAT(y[3], WithinRel(128.0, 1e-5));
}

// One measurement leaves the constant alone.
TEST_CASE("a shift with one measurement is that value everywhere", "[sampling]") {
    const auto y = linear_shift({1, 2}, {1}, {6});
    CHECK_THAT(y[0], WithinRel(6.0, 1e-6));
    CHECK_THAT(y[1], WithinRel(6.0, 1e-6));
}
