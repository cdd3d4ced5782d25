// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/axis.h"

#include <catch2/catch.hpp>

using namespace dlcast;
using Catch::Matchers::WithinAbs;

TEST_CASE("a linear axis ends at a round number", "[chart]") {
    const Axis axis = linear_axis(103);  // steps of 20.6, taken as 50
    CHECK(axis.ticks == std::vector<double>{0, 50, 100, 150});
    CHECK_THAT(axis.place(75), WithinAbs(0.5, 1e-12));
    CHECK(linear_axis(100).ticks.back() == 100);
    CHECK(linear_axis(0).high > 0);
}

TEST_CASE("a logarithmic axis has ticks around its values", "[chart]") {
    const Axis narrow = logarithmic_axis(3, 40);
    CHECK(narrow.ticks == std::vector<double>{2, 5, 10, 20, 50});
    CHECK_THAT(narrow.place(10), WithinAbs(0.5, 1e-12));  // log(10 / 2) / log(50 / 2) = log 5 / log 25
    const Axis wide = logarithmic_axis(0.5, 2e5);         // 1, 2, 5 of each decade would be 18 ticks
    CHECK(wide.ticks.front() == Approx(0.1));
    CHECK(wide.ticks.back() == Approx(1e6));
    CHECK(wide.ticks.size() == 8);
    const Axis one_value = logarithmic_axis(10, 10);
    CHECK(one_value.low < one_value.high);
}

TEST_CASE("an axis of counts has a tick at each", "[chart]") {
    const Axis axis = count_axis({1, 2, 4, 12});
    CHECK(axis.ticks.size() == 4);
    CHECK(axis.place(1) == 0.0);
    CHECK(axis.place(12) == 1.0);
    CHECK(count_axis({8}).high > 8);  // one count stands at the left
}
