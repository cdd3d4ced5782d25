// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/report.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "predictor/base/text.h"

using namespace dlcast;

namespace {

const ModelSums sums_of(const std::string& model) {
    return {model, {{Pass::forward, 0.0, 0.0, 3}, {Pass::backward, 1.5e-3, 1e-3, 0}, {Pass::step, 1.5e-3, 2e-3, 3}}};
}

std::vector<std::string> lines_of(const ModelSums& model) { return split(profile_text({}, {model}, "s.jsonl"), '\n'); }

}  // namespace

TEST_CASE("the table of sums says nothing of what was not measured", "[profiler]") {
    const auto lines = lines_of(sums_of("net.json"));
    REQUIRE(lines.size() == 7);
    CHECK(lines[2] == "net.json                  sum of layers     whole pass   off by");
    CHECK(lines[3] == "  forward                             -              -        -  (3 operators not measured)");
    CHECK(lines[4] == "  backward                     1.500 ms       1.000 ms  +50.0 %");
    CHECK(lines[5] == "  step                         1.500 ms       2.000 ms        -  (3 operators not measured)");
    const std::string json = profile_json({}, {sums_of("net.json")}, "s.jsonl");
    CHECK(json.find("\"layers_ms\": null") != std::string::npos);
}

// 108 ms against 318 ms: 66 % less; 240 against 318 ms: 25 % less.
TEST_CASE("a step far from the sum of its layers is warned of, with the remedy", "[profiler]") {
    const auto warned = [](double layers_s, double whole_s, int missing) {
        return profile_text({}, {{"net.json", {{Pass::step, layers_s, whole_s, missing}}}}, "s.jsonl")
                   .find("measure again on an idle one") != std::string::npos;
    };
    CHECK(warned(0.108, 0.318, 0));
    CHECK_FALSE(warned(0.240, 0.318, 0));
    CHECK_FALSE(warned(0.108, 0.318, 1));  // a sum that lacks operators says nothing
    CHECK_FALSE(warned(0.108, 0.0, 0));
}

TEST_CASE("what many points are refused for is said once, with their count", "[profiler]") {
    ProfileResult result;
    result.refused = {{"forward", "no fp16 here"}, {"collective", "it needs ranks"}, {"backward", "no fp16 here"}};
    for (int i = 0; i < 13; ++i) result.refused.push_back({"another", "no fp16 here"});
    const auto lines = split(profile_text(result, {}, "s.jsonl"), '\n');
    REQUIRE(lines.size() == 4);
    CHECK(lines[0].find(", 16 not possible; s.jsonl") != std::string::npos);
    CHECK(lines[1] == "  not possible: forward and 14 more: no fp16 here");
    CHECK(lines[2] == "  not possible: collective: it needs ranks");
    CHECK(profile_json(result, {}, "s.jsonl").find("\"backward: no fp16 here\"") != std::string::npos);
}

TEST_CASE("a name wider than its column stands above the table, whatever characters it has", "[profiler]") {
    const auto lines = lines_of(sums_of("/home/someone/models/a\nnet.json"));
    CHECK(lines[2] == "/home/someone/models/a?net.json");
    CHECK(lines[3].find("sum of layers") == lines_of(sums_of("net.json"))[2].find("sum of layers"));
}
