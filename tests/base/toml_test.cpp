// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/base/toml.h"

#include <catch2/catch.hpp>

using namespace dlcast;
using Catch::StartsWith;

TEST_CASE("TOML tables, arrays and scalars become values with places", "[toml]") {
    const auto value =
        parse_toml("name = \"x\"\n[time_limit]\nquantile = 0.95\nround_up_min = 15\nlist = [1, 2]\n", "c.toml");
    REQUIRE(value);
    CHECK(value->find("name")->as_string() == "x");
    const Value* limit = value->find("time_limit");
    REQUIRE(limit);
    CHECK(limit->find("quantile")->as_number() == 0.95);
    CHECK(limit->find("round_up_min")->as_integer() == 15);
    CHECK(limit->find("list")->as_array().size() == 2);
    CHECK(limit->find("quantile")->at.line == 3);
    CHECK(limit->find("quantile")->at.column == 12);  // "quantile = " has 11 characters
}

TEST_CASE("bad TOML is refused with its place", "[toml]") {
    const auto twice = parse_toml("a = 1\na = 2\n", "c.toml");
    REQUIRE_FALSE(twice);
    CHECK_THAT(twice.error().message, StartsWith("c.toml:2:"));
    const auto date = parse_toml("a = 1\nb = 2026-01-01\n", "c.toml");
    REQUIRE_FALSE(date);
    CHECK_THAT(date.error().message, StartsWith("c.toml:2:5: a date or time"));
    // toml++ alone would recurse 5,000 times and end the program.
    std::string dotted = "a";
    for (int i = 0; i < 5'000; ++i) dotted += ".a";
    const auto deep = parse_toml("x = 1\n" + dotted + " = 1\n", "c.toml");
    REQUIRE_FALSE(deep);
    CHECK_THAT(deep.error().message, StartsWith("c.toml:2:1: more than"));
    // Parts in quotes may hold commas, and parts may be numbers.
    std::string quoted = "\"a,1\"", numbers = "1";
    for (int i = 0; i < 1000; ++i) {
        quoted += ".\"a,1\"";
        numbers += ".1";
    }
    for (const std::string& key : {quoted, numbers, "[" + numbers + "]", "x = [1, { " + quoted + " = 1 }]"}) {
        INFO(key.substr(0, 30));
        const auto refused = parse_toml(key + (key.back() == ']' ? "\n" : " = 1\n"), "c.toml");
        REQUIRE_FALSE(refused);
        CHECK_THAT(refused.error().message, StartsWith("c.toml:1:1: more than"));
    }
    std::string list = "x = [0.5";
    for (int i = 0; i < 3000; ++i) list += ", -1.5e-3";
    CHECK(parse_toml(list + "]\n", "c.toml"));
    CHECK_FALSE(parse_toml("a = [1, 2\n", "c.toml"));
    CHECK(parse_toml("mode = broken\n", "c.toml").error().message.find("text stands in quotes") != std::string::npos);
    CHECK_FALSE(parse_toml("a = " + std::string(10'000, '['), "c.toml"));
}

TEST_CASE("any text reads back from its TOML string", "[toml]") {
    for (const std::string text : {"", "my lab", "a \"b\" \\c", "line\nbreak\t\x7f", "\xc3\xa9"})
        CHECK(parse_toml("a = " + dlcast::toml_basic_string(text), "c.toml")->find("a")->as_string() == text);
}
