// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/sampling/choose.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "predictor/sampling/draw.h"
#include "tests/sampling/systems.h"

using namespace dlcast;
using Catch::Matchers::Contains;

namespace {

Effects effects_of(double a, double b, double c) {
    const Configurations all = test::two_clocks();
    return *learn_effects(all, test::run_s(all, a, b, c));
}

}  // namespace

// The first clock carries the time, so that a difference between machines shows between its ends (rows 0 to 3 against
// rows 12 to 15); two measurements at one of its levels could not tell.
TEST_CASE("two measurements are spread over the option that matters", "[sampling]") {
    const auto seed = GENERATE(std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3});
    const auto chosen = choose_configurations(effects_of(9.0, 0.1, 0.0), test::two_clocks(), 2, seed);
    REQUIRE(chosen);
    REQUIRE(chosen->size() == 2);
    CHECK((*chosen)[1] / 4 - (*chosen)[0] / 4 >= 2);
}

TEST_CASE("the same seed chooses the same, in ascending order and each once", "[sampling]") {
    const Effects effects = effects_of(6.0, 2.0, 1.0);
    const auto one = choose_configurations(effects, test::two_clocks(), 6, 5);
    const auto two = choose_configurations(effects, test::two_clocks(), 6, 5);
    REQUIRE(one);
    CHECK(*one == *two);
    CHECK(std::is_sorted(one->begin(), one->end()));
    CHECK(std::set<std::size_t>(one->begin(), one->end()).size() == 6);
}

TEST_CASE("a budget of all configurations takes all", "[sampling]") {
    const auto all = choose_configurations(effects_of(6.0, 2.0, 1.0), test::two_clocks(), 16, 1);
    REQUIRE(all);
    CHECK(all->size() == 16);
    CHECK(all->back() == 15);
}

TEST_CASE("a budget of none or of more than there are is refused", "[sampling]") {
    const Effects effects = effects_of(6.0, 2.0, 1.0);
    CHECK_THAT(choose_configurations(effects, test::two_clocks(), 0, 1).error().message, Contains("1 to 16"));
    CHECK_THAT(choose_configurations(effects, test::two_clocks(), 17, 1).error().message, Contains("budget of 17"));
}

TEST_CASE("a draw holds distinct rows, and all where as many are asked for", "[sampling]") {
    const auto some = draw_rows(10, 4, 7);
    CHECK(std::set<std::size_t>(some.begin(), some.end()).size() == 4);
    CHECK(*std::max_element(some.begin(), some.end()) < 10);
    CHECK(draw_rows(3, 5, 7) == std::vector<std::size_t>{0, 1, 2});
}
