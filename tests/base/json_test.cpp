// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/base/json.h"

#include <catch2/catch.hpp>
#include <functional>
#include <limits>
#include <vector>

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
    CHECK(fault_of("{\"a\": NaN}") == "net.json:1:7: NaN; JSON has none, write a number");
    CHECK(fault_of("{\"a\": -Infinity}") == "net.json:1:7: -Infinity; JSON has none, write a number");
    CHECK_THAT(fault_of("\xff\xfe{\""), Contains("no UTF-8"));  // UTF-16
}

TEST_CASE("what people write in the place of JSON is named", "[json]") {
    CHECK_THAT(fault_of("{\"a\": 1,}"), StartsWith("net.json:1:9: a comma before '}'"));
    CHECK_THAT(fault_of("[1, 2, ]"), StartsWith("net.json:1:8: a comma before ']'"));
    CHECK_THAT(fault_of("{\"a\": 1 \"b\": 2}"), StartsWith("net.json:1:9: expected ',' or '}'"));
    CHECK_THAT(fault_of("{\n// layers\n\"a\": 1}"), StartsWith("net.json:2:1: a comment"));
    CHECK_THAT(fault_of("{'a': 1}"), StartsWith("net.json:1:2: expected a key in double quotes"));
    CHECK_THAT(fault_of("{\"a\": 1"), StartsWith("net.json:1:8: the text ends where ',' or '}' should stand"));
    CHECK_THAT(fault_of("[\"a"), Contains("ends where"));
    CHECK_THAT(fault_of("[007]"), StartsWith("net.json:1:2: a number with a leading zero"));
    CHECK_THAT(fault_of("[1.]"), StartsWith("net.json:1:4: expected a digit"));
    CHECK_THAT(fault_of("[1e999]"),
               StartsWith("net.json:1:2: the number 1e999 is beyond what can be held (1.8e308); write a smaller one"));
    CHECK_THAT(fault_of("[\"a\nb\"]"), StartsWith("net.json:1:4: a control character"));
    CHECK_THAT(fault_of("[\"\\ud800\"]"), Contains("surrogate"));
    CHECK_THAT(fault_of("[\"\\x41\"]"), Contains("behind a backslash"));
    CHECK_THAT(fault_of("[nul]"), StartsWith("net.json:1:2: expected a value"));
}

TEST_CASE("escapes, a byte order mark and whole numbers of any size are read", "[json]") {
    // U+00E9, U+20AC and U+1D11E (a surrogate pair) in UTF-8.
    const auto text = parse_json("\"\\u00e9\\u20ac\\ud834\\udd1e\\/\\b\"", "t");
    REQUIRE(text);
    CHECK(text->as_string() == "\xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9e/\b");
    CHECK(parse_json("\xEF\xBB\xBF[1]", "t"));
    CHECK(parse_json("-9223372036854775808", "t")->as_integer() == std::numeric_limits<std::int64_t>::min());
    CHECK(parse_json("18446744073709551616", "t")->as_number() == 18'446'744'073'709'551'616.0);  // 2^64
}

TEST_CASE("bytes that are no UTF-8 are refused", "[json]") {
    // Cut off, overlong twice, a surrogate, above U+10FFFF, bytes of no sequence.
    for (const char* bytes : {"\xc3", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80", "\xff"}) {
        const std::string text = "[\"" + std::string(bytes) + "\"]";
        CHECK_THAT(fault_of(text), StartsWith("net.json:1:3: bytes that are no UTF-8"));
    }
}

TEST_CASE("a key that stands twice is found among thousands, even where all are made to collide", "[json]") {
    const auto object_of = [](const std::vector<std::string>& keys) {
        std::string text = "{\n";
        for (const std::string& key : keys) text += (text.size() > 2 ? ",\n\"" : "\"") + key + "\":0";
        return text + "}";
    };
    std::vector<std::string> keys;
    for (int i = 0; keys.size() < 300; ++i)  // all in one slot of any table of up to 1024
        if (const auto key = std::to_string(i); std::hash<std::string>{}(key) % 1024 == 0) keys.push_back(key);
    CHECK(parse_json(object_of(keys), "net.json"));
    keys.push_back(keys[100]);
    CHECK_THAT(fault_of(object_of(keys)), StartsWith("net.json:302:1: key"));  // behind a bracket and 300 keys
    keys.clear();
    for (int i = 0; i < 5000; ++i) keys.push_back(std::to_string(i));
    CHECK(parse_json(object_of(keys), "net.json"));
    keys.push_back("4999");
    CHECK_THAT(fault_of(object_of(keys)), StartsWith("net.json:5002:1: key \"4999\" stands twice"));
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

TEST_CASE("objects and arrays of any size stand beside each other", "[json]") {
    // Room is kept from one container to the next of its depth: sizes go up, down and over what counts as narrow.
    std::string text = "[";
    for (const int size : {1, 2, 63, 0, 1, 64, 65, 3, 300, 2, 6, 2, 6, 12}) {
        std::string object, array;
        for (int i = 0; i < size; ++i) {
            object += (i ? "," : "") + ("\"a key of twenty " + std::to_string(i)) + "\":[" + std::to_string(size) + "]";
            array += (i ? ",{\"" : "{\"") + std::to_string(i) + "\":null}";
        }
        text += (text.size() > 1 ? ",{" : "{") + object + "},[" + array + "]";
    }
    text += "]";
    const auto value = parse_json(text, "net.json");
    REQUIRE(value);
    CHECK(value->as_array().size() == 28);
    CHECK(write_json(*value) == text);
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
    CHECK(write_json(Value(1.0)) == "1.0");  // stays a real number
    CHECK(write_json(Value("\x01\xff")) == "\"\\u0001\xEF\xBF\xBD\"");
    CHECK(write_json(*parse_json("{\"a\":[1,{}],\"b\":[]}", "t"), 2) ==
          "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": []\n}");
}

// {"a":[1,22]} has 12 bytes.
TEST_CASE("a text that takes more bytes than allowed is not written", "[json]") {
    const auto value = parse_json("{\"a\": [1, 22]}", "t");
    CHECK(write_json_within(*value, 12) == "{\"a\":[1,22]}");
    CHECK_FALSE(write_json_within(*value, 11));
}
