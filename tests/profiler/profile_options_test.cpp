// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/profile_options.h"

#include <catch2/catch.hpp>

using namespace dlcast;

TEST_CASE("a budget is read as people write it", "[profiler]") {
    const auto [text, seconds] = GENERATE(table<std::string, double>(
        {{"90", 90}, {"90s", 90}, {"10min", 600}, {"1.5m", 90}, {"1h", 3600}, {"1h30min", 5400}}));
    const auto read = parse_budget_s(text);
    REQUIRE(read);
    CHECK(*read == seconds);
}

TEST_CASE("a budget that is no time is refused", "[profiler]") {
    const std::string text = GENERATE("", "0", "-5", "ten", "5 parsecs", "10d", "1e9h", "min");
    CHECK_FALSE(parse_budget_s(text));
}
