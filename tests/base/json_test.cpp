// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/base/json.h"

#include <catch2/catch.hpp>

using namespace dlcast;
using Catch::Contains;
using Catch::StartsWith;

namespace {

std::string fault_of(std::string_view text, const JsonLimits& limits = {}) {
    const auto value = parse_json(text, "net.json", limits);
    return value ? "no fault" : value.error().message;
}

}  // namespace

TEST_CASE("JSON values keep their kind, order and place", "[json]") {
    const auto value = parse_json("{ \"b\": [1, 2.5, true, null],\n  \"a\": \"x\\\"y\" , \"n\":-3e2}", "net.json");
    REQUIRE(value);
    REQUIRE(value->as_object().size() == 3);
    CHECK(value->as_object()[0].key == "b");
    const auto& list = value->find("b")->as_array();
    CHECK(list[0].as_integer() == 1);
    CHECK(list[1].as_number() == 2.5);
    CHECK(list[2].as_bool());
    CHECK(list[3].is_null());
    CHECK(value->find("a")->as_string() == "x\"y");
    CHECK(value->find("n")->as_number() == -300.0);
    // Counted by hand: {, space, "b" starts at column 3; its array at 8; 2.5 at 12. On line 2, "a" at 3 and its text
    // at 8.
    CHECK(value->as_object()[0].at.column == 3);
    CHECK(value->find("b")->at.column == 8);
    CHECK(list[1].at.column == 12);
    CHECK(value->as_object()[1].at.line == 2);
    CHECK(value->as_object()[1].at.column == 3);
    CHECK(value->find("a")->at.column == 8);
    CHECK(value->find("n")->at.column == 21);
}

TEST_CASE("bad JSON is refused with its place", "[json]") {
    CHECK_THAT(fault_of(""), Contains("empty"));
    CHECK_THAT(fault_of(" \n\t"), Contains("empty"));
    CHECK_THAT(fault_of("{\"a\": }"), StartsWith("net.json:1:7: "));
    CHECK_THAT(fault_of("{\"a\": 1,\n \"b\" 2}"), StartsWith("net.json:2:"));
    CHECK_THAT(fault_of("{\"a\": 1} trailing"), StartsWith("net.json:1:"));
    CHECK_THAT(fault_of("{\"a\": \"\xff\xfe\"}"), Contains("net.json:1:"));
    CHECK_THAT(fault_of("{\"a\": 1e999}"), Contains("net.json:1:"));
    CHECK_THAT(fault_of("{\"a\": NaN}"), StartsWith("net.json:1:"));
}

TEST_CASE("a key that stands twice is refused where it stands again", "[json]") {
    CHECK_THAT(fault_of("{\n \"a\": 1,\n \"a\": 2}"), StartsWith("net.json:3:2: key \"a\" stands twice"));
    // The same key in two objects is no duplicate.
    CHECK(parse_json("[{\"a\": 1}, {\"a\": {\"a\": 2}}]", "net.json"));
}

TEST_CASE("depth, size and count are bounded", "[json]") {
    const std::string deep(10'000, '[');
    CHECK_THAT(fault_of(deep), StartsWith("net.json:1:65: nested deeper than 64"));
    CHECK(parse_json(std::string(64, '[') + std::string(64, ']'), "net.json"));
    CHECK_THAT(fault_of(std::string(65, '[') + std::string(65, ']')), Contains("deeper"));
    CHECK_THAT(fault_of(std::string(2 << 20, ' ')), Contains("more than the 1048576"));
    CHECK_THAT(fault_of("[1,2,3,4]", JsonLimits{.values = 4}), Contains("more than 4 values"));
    CHECK(parse_json("[1,2,3]", "net.json", JsonLimits{.values = 4}));
}

TEST_CASE("what is written reads back", "[json]") {
    Value value;
    value.set("text", "tab\t \"quoted\" \xc3\xa9");
    value.set("big", std::int64_t{9'007'199'254'740'993});
    value.set("real", 0.1);
    value.set("list", Value::Array{Value(1), Value(nullptr), Value(false)});
    const auto back = parse_json(write_json(value), "back");
    REQUIRE(back);
    CHECK(back->find("text")->as_string() == value.find("text")->as_string());
    CHECK(back->find("big")->as_integer() == 9'007'199'254'740'993);  // 2^53 + 1: no double would hold it
    CHECK(back->find("real")->as_number() == 0.1);
    CHECK(write_json(*back) == write_json(value));
    CHECK(write_json(Value(std::numeric_limits<double>::quiet_NaN())) == "null");
}
