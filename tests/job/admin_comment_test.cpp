// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/admin_comment.h"

#include <catch2/catch.hpp>
#include <set>

#include "predictor/base/json.h"

using namespace dlcast;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

namespace {
ForecastRecord record() {
    return {.id = "0123456789ab",
            .model = "vgg16",
            .gpus = 4,
            .nodes = 1,
            .gpu = "A100-SXM4-80GB",
            .partition = "a100",
            .p50_s = 11400.4,
            .p95_s = 13000.0,
            .limit_s = 14400,
            .asked_s = 3600,
            .device_h = 12.6671,
            .by = "torch",
            .weights = "w1"};
}
const std::string ours =
    R"({"dlcast":{"v":1,"id":"0123456789ab","model":"vgg16","gpus":4,"nodes":1,"gpu":"A100-SXM4-80GB","partition":"a100",)"
    R"("p50_s":11400,"p95_s":13000,"limit_s":14400,"asked_s":3600,"gpu_h":12.7,"by":"torch","weights":"w1"}})";
}  // namespace

TEST_CASE("an empty comment becomes the forecast", "[admin_comment]") {
    CHECK(add_to_comment("", record()) == ours);
    CHECK(add_to_comment("  ", record()) == ours);
}

TEST_CASE("text that is there stays in front", "[admin_comment]") {
    CHECK(add_to_comment("ticket 42", record()) == "ticket 42 " + ours);
    CHECK(add_to_comment("[1,2]", record()) == "[1,2] " + ours);
    CHECK(add_to_comment("{broken", record()) == "{broken " + ours);
}

TEST_CASE("an object that is there gains our key and keeps every other byte", "[admin_comment]") {
    const std::string theirs = R"({"big": 123456789012345678901234, "x": 1.50 })";
    const std::string both = add_to_comment(theirs, record());
    CHECK_THAT(both, StartsWith(R"({"big": 123456789012345678901234, "x": 1.50 ,"dlcast":{)"));
    const auto parsed = parse_json(both, "test");
    REQUIRE(parsed);
    CHECK(parsed->find("dlcast")->find("gpus")->as_integer() == 4);
    CHECK(add_to_comment("{}", record()) == ours);
}

TEST_CASE("a second forecast takes the place of the first", "[admin_comment]") {
    ForecastRecord second = record();
    second.gpus = 8;
    const auto parsed = parse_json(add_to_comment(add_to_comment(R"({"a":1})", record()), second), "test");
    REQUIRE(parsed);  // a key standing twice would be refused
    CHECK(parsed->find("a")->as_integer() == 1);
    CHECK(parsed->find("dlcast")->find("gpus")->as_integer() == 8);
}

TEST_CASE("hours have the digits that the user reads, and those of CPUs are node-hours", "[admin_comment]") {
    ForecastRecord short_one = record();
    short_one.device_h = 16.0 / 3600;  // one node for 16 s
    CHECK(to_value(short_one).find("gpu_h")->as_number() == 0.0044);
    short_one.on_cpu = true;
    CHECK(to_value(short_one).find("node_h")->as_number() == 0.0044);
    CHECK_FALSE(to_value(short_one).find("gpu_h"));
}

TEST_CASE("what is not known is null", "[admin_comment]") {
    ForecastRecord bare = record();
    bare.p50_s.reset();
    bare.device_h.reset();
    bare.limit_s = -1;
    const Value value = to_value(bare);
    CHECK(value.find("p50_s")->is_null());
    CHECK(value.find("gpu_h")->is_null());
    CHECK(value.find("limit_s")->is_null());
}

TEST_CASE("forecast ids are twelve hexadecimal digits and differ", "[admin_comment]") {
    std::set<std::string> seen;
    for (int i = 0; i < 1000; ++i) {
        const std::string id = new_forecast_id();
        CHECK(id.size() == 12);
        CHECK(id.find_first_not_of("0123456789abcdef") == std::string::npos);
        seen.insert(id);
    }
    CHECK(seen.size() == 1000);
}
