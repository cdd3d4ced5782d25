// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/base/deadline.h"

#include <catch2/catch.hpp>
#include <thread>

#include "predictor/model/workload.h"

using namespace dlcast;
using namespace std::chrono_literals;

TEST_CASE("a deadline passes by computing, on its own thread and only while it stands", "[deadline]") {
    CHECK_FALSE(Deadline::passed());
    {
        const Deadline none_left{0ns};
        while (!Deadline::passed()) {
        }
        bool elsewhere = true;
        std::thread([&] { elsewhere = Deadline::passed(); }).join();
        CHECK_FALSE(elsewhere);
        {
            const Deadline wide{1h};
            CHECK_FALSE(Deadline::passed());
        }
        CHECK(Deadline::passed());
    }
    CHECK_FALSE(Deadline::passed());
}

TEST_CASE("a model made to be expensive is given up at the deadline", "[deadline]") {
    const auto declaration =
        parse_payload(R"({"model": {"input": [8], "layers": [{"type": "relu", "repeat": 99000}]}})");
    REQUIRE(declaration);
    CHECK(to_workload(*declaration));
    const Deadline none_left{0ns};
    const auto late = to_workload(*declaration);
    REQUIRE_FALSE(late);
    CHECK_THAT(late.error().message, Catch::Contains("take all the time a submission may"));
}

TEST_CASE("names and lists that are read again for every repeat are bounded", "[deadline]") {
    const auto fault = [](const std::string& layers) {
        const auto declaration = parse_payload(R"({"model": {"input": [8], "layers": [)" + layers + "]}}");
        if (!declaration) return declaration.error().message;
        const auto workload = to_workload(*declaration);
        return workload ? std::string("no fault") : workload.error().message;
    };
    CHECK_THAT(fault(R"({"type": "relu", "name": ")" + std::string(20'000, 'A') + "\"}"),
               Catch::Contains("longer than 128"));
    std::string many = "\"a\"";
    for (int i = 0; i < 1000; ++i) many += ", \"a\"";
    CHECK_THAT(fault(R"({"type": "relu", "name": "a"}, {"type": "concat", "from": [)" + many + "]}"),
               Catch::Contains("more than 256 layers"));
}
