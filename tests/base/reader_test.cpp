// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/base/reader.h"

#include <catch2/catch.hpp>

#include "predictor/base/json.h"

using namespace dlcast;
using Catch::Contains;
using Catch::StartsWith;

namespace {

Value parsed(std::string_view text) {
    auto value = parse_json(text, "net.json");
    REQUIRE(value);
    return *value;
}

}  // namespace

TEST_CASE("a reader returns what is there and nothing for what is not", "[reader]") {
    const Value value = parsed(R"({"n": 3, "whole": 224.0, "r": 0.5, "s": "SGD", "b": true, "i": [1, 2], "t": ["x"]})");
    ObjectReader r(value, "net.json", "training");
    CHECK(r.integer("n") == 3);
    CHECK(r.integer("whole") == 224);
    CHECK(r.number("r") == 0.5);
    CHECK(r.choice("s", {"adam", "sgd"}) == 1u);
    CHECK(r.boolean("b") == true);
    CHECK(r.integers("i", 0, 2) == std::vector<std::int64_t>{1, 2});
    CHECK(r.strings("t") == std::vector<std::string>{"x"});
    CHECK_FALSE(r.integer("absent"));
    CHECK(r.finish());
}

TEST_CASE("the first fault of an object is told with place, fault and remedy", "[reader]") {
    const auto fault = [](std::string_view text, auto read) {
        const Value value = parsed(text);
        ObjectReader r(value, "net.json", "training");
        read(r);
        const Status status = r.finish();
        return status ? std::string("no fault") : status.error().message;
    };
    CHECK(fault(R"({"n": "3"})", [](auto& r) { r.integer("n"); }) ==
          "net.json:1:7: training: n is \"3\"; it should be a whole number");
    CHECK(fault(R"({"n": 3.5})", [](auto& r) { r.integer("n"); }) ==
          "net.json:1:7: training: n is 3.5; it should be a whole number");
    CHECK(fault(R"({"n": -1})", [](auto& r) { r.integer("n", 1, 9); }) ==
          "net.json:1:7: training: n is -1; it should be from 1 to 9");
    CHECK_THAT(fault(R"({"s": "sdg"})", [](auto& r) { r.choice("s", {"adam", "sgd"}); }), Contains("one of adam, sgd"));
    CHECK_THAT(fault(R"({"batchsize": 3})", [](auto& r) { r.integer("batch_size"); }),
               StartsWith("net.json:1:2: training: unknown key \"batchsize\"; did you mean \"batch_size\"?"));
    CHECK_THAT(fault(R"({})", [](auto& r) { r.require("kernel", "add \"kernel\": [3, 3]"); }),
               Contains("needs \"kernel\"; add \"kernel\": [3, 3]"));
    CHECK_THAT(fault(R"({"n": "a", "m": "b"})", [](auto& r) { r.integer("n"), r.integer("m"); }), Contains(": n is"));
    CHECK_THAT(fault(R"([1])", [](auto&) {}), Contains("training is an array; it should be an object"));
}

TEST_CASE("a choice of another kind is told the names there are", "[reader]") {
    const auto value = parse_json(R"({"fsdp": true})", "f.json");
    REQUIRE(value);
    ObjectReader r(*value, "f.json", "parallel");
    CHECK_FALSE(r.choice("fsdp", {"full", "hybrid"}));
    CHECK(r.finish().error().message.find("it should be one of full, hybrid") != std::string::npos);
}
