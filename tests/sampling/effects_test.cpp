// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/sampling/effects.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "tests/sampling/systems.h"

using namespace dlcast;
using Catch::Matchers::Contains;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

// log 1 = 0 and log 100 = 4.605: mean 2.303, deviation 2.303, so the levels are -1 and 1.
TEST_CASE("a positive option is scaled by its logarithm", "[sampling]") {
    const OptionScale scale = scale_of("clock", {1, 100, 1, 100});
    CHECK(scale.positive);
    CHECK_THAT(scale.level(1), WithinRel(-1.0, 1e-12));
    CHECK_THAT(scale.level(10), WithinAbs(0.0, 1e-12));
    CHECK_THAT(scale.pace(100), WithinRel(-1.0, 1e-12));
    CHECK(scale.levels.size() == 2);
}

TEST_CASE("a switch is scaled as it stands, and one that never changes has no levels", "[sampling]") {
    CHECK_THAT(scale_of("core1", {0, 1, 0, 1}).level(1), WithinRel(1.0, 1e-12));
    CHECK(scale_of("core0", {1, 1, 1}).levels.empty());
}

// 9 / first carries most of the time at all clocks; with 0.1 / second the second hardly counts.
TEST_CASE("the option that carries the time is the most important", "[sampling]") {
    const Configurations source = test::two_clocks();
    const auto effects = learn_effects(source, test::run_s(source, 9.0, 0.1, 0.0));
    REQUIRE(effects);
    REQUIRE(effects->importance.size() == 2);
    CHECK(effects->importance[0] > 10.0 * effects->importance[1]);
    CHECK(effects->with_terms.front() == 0);
    CHECK(effects->term_names == std::vector<std::string>{"share of first", "share of second", "seconds",
                                                          "seconds by first", "seconds by second"});
}

// Without noise the model goes through the points; 1 % is what the prior of 2 % noise leaves of it at most.
TEST_CASE("the source model repeats what it was taught", "[sampling]") {
    const Configurations source = test::two_clocks();
    const auto values = test::run_s(source, 6.0, 2.0, 1.0);
    const auto effects = learn_effects(source, values);
    REQUIRE(effects);
    const auto terms = terms_at(*effects, source);
    REQUIRE(terms);
    for (std::size_t i = 0; i < values.size(); ++i)
        CHECK_THAT(std::exp(terms->source_log[i]), WithinRel(values[i], 0.01));
}

TEST_CASE("columns may stand in another order on the new machine", "[sampling]") {
    const Configurations source = test::two_clocks();
    const auto effects = learn_effects(source, test::run_s(source, 6.0, 2.0, 1.0));
    REQUIRE(effects);
    Configurations swapped{.options = {"second", "first"}, .values = Matrix(1, 2)};
    swapped.values.data = {4, 1};
    Configurations straight{.options = {"first", "second"}, .values = Matrix(1, 2)};
    straight.values.data = {1, 4};
    CHECK(terms_at(*effects, swapped)->values.data == terms_at(*effects, straight)->values.data);
}

TEST_CASE("a source table that teaches nothing is refused", "[sampling]") {
    const Configurations source = test::two_clocks();
    auto values = test::run_s(source, 6.0, 2.0, 1.0);
    SECTION("a value of zero") {
        values[3] = 0.0;
        CHECK_THAT(learn_effects(source, values).error().message,
                   Contains("configuration 4") && Contains("above zero"));
    }
    SECTION("a value that is no number") {
        values[0] = std::numeric_limits<double>::quiet_NaN();
        CHECK_THAT(learn_effects(source, values).error().message, Contains("configuration 1"));
    }
    SECTION("no option varies") {
        const Configurations same{.options = {"first"}, .values = Matrix(16, 1, 2.0)};
        CHECK_THAT(learn_effects(same, values).error().message, Contains("no option varies"));
    }
    SECTION("too few configurations") {
        CHECK_THAT(learn_effects(test::rows_of(source, {0, 1, 2}), {1, 2, 3}).error().message, Contains("at least 4"));
    }
    SECTION("another number of values") {
        values.pop_back();
        CHECK_FALSE(learn_effects(source, values));
    }
}

TEST_CASE("a missing option is named with the nearest one", "[sampling]") {
    const Configurations source = test::two_clocks();
    const auto effects = learn_effects(source, test::run_s(source, 6.0, 2.0, 1.0));
    REQUIRE(effects);
    const Configurations other{.options = {"first", "seconds"}, .values = Matrix(1, 2, 1.0)};
    CHECK_THAT(terms_at(*effects, other).error().message, Contains("'second'") && Contains("'seconds'"));
}
