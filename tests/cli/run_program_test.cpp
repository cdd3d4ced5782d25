// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/run_program.h"

#include <catch2/catch.hpp>

using namespace dlcast;
using namespace std::chrono_literals;

TEST_CASE("a program's output comes back, its arguments untouched by any shell", "[run]") {
    const auto out = run_program({"printf", "%s|", "$HOME", "a b", "`id`"}, 5s);
    REQUIRE(out);
    CHECK(*out == "$HOME|a b|`id`|");
}

TEST_CASE("a program that fails, hangs or is not there is an error that names it", "[run]") {
    const auto failed = run_program({"false"}, 5s);
    REQUIRE_FALSE(failed);
    CHECK(failed.error().fault == Fault::unavailable);
    CHECK_THAT(failed.error().message, Catch::Contains("`false` failed (exit code 1)"));

    const auto told = run_program({"sh", "-c", "echo first >&2; echo second >&2; exit 3"}, 5s);
    REQUIRE_FALSE(told);
    CHECK_THAT(told.error().message, Catch::Contains("failed (exit code 3): first; second"));

    const auto hung = run_program({"sleep", "60"}, 100ms);
    REQUIRE_FALSE(hung);
    CHECK_THAT(hung.error().message, Catch::Contains("`sleep 60` did not end in time"));

    const auto missing = run_program({"no-such-program-here"}, 5s);
    REQUIRE_FALSE(missing);
    CHECK_THAT(missing.error().message, Catch::Contains("no-such-program-here"));
}
