// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/layout.h"

#include <catch2/catch.hpp>

using namespace dlcast;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {
Allocation gpus(int nodes, int per_node) {
    Allocation allocation;
    allocation.nodes = nodes;
    allocation.gpus_per_node = per_node;
    return allocation;
}
}  // namespace

TEST_CASE("data ranks take what the other degrees leave", "[layout]") {
    Parallel parallel;
    parallel.tp = 4;
    parallel.pp = 2;
    const auto layout = make_layout(parallel, gpus(4, 8));
    REQUIRE(layout);
    CHECK(layout->dp == 4);  // 32 / (4 x 2)
}

TEST_CASE("degrees that do not make the GPU count are refused with the product", "[layout]") {
    Parallel parallel;
    parallel.tp = 3;
    const auto layout = make_layout(parallel, gpus(1, 8));
    REQUIRE_FALSE(layout);
    CHECK_THAT(layout.error().message, Contains("tp 3") && Contains("8 GPUs"));
    parallel = {};
    parallel.dp = 2;
    CHECK_FALSE(make_layout(parallel, gpus(1, 8)));
    parallel = {};
    parallel.pp = 0;
    CHECK_FALSE(make_layout(parallel, gpus(1, 8)));
}

// Tensor ranks are neighbours: 8 x tp 4 on nodes of 8 leave two data ranks a node.
TEST_CASE("tensor ranks share a node before data ranks do", "[layout]") {
    Parallel parallel;
    parallel.tp = 4;
    const auto layout = make_layout(parallel, gpus(4, 8));
    REQUIRE(layout);
    CHECK(layout->tensor.nodes == 1);
    CHECK(layout->tensor.ranks_per_node == 4);
    CHECK(layout->data.ranks_per_node == 2);
    CHECK(layout->data.nodes == 4);
}

TEST_CASE("ZeRO shards one more kind of state a stage", "[layout]") {
    const auto [zero, optimizer, gradient, weight] =
        GENERATE(table<int, int, int, int>({{0, 1, 1, 1}, {1, 8, 1, 1}, {2, 8, 8, 1}, {3, 8, 8, 8}}));
    Parallel parallel;
    parallel.zero = zero;
    const auto layout = make_layout(parallel, gpus(1, 8));
    REQUIRE(layout);
    CHECK(layout->optimizer_shards == optimizer);
    CHECK(layout->gradient_shards == gradient);
    CHECK(layout->weight_shards == weight);
}

TEST_CASE("hybrid FSDP shards inside a node only", "[layout]") {
    Parallel parallel;
    parallel.fsdp = "hybrid";
    const auto layout = make_layout(parallel, gpus(4, 8));
    REQUIRE(layout);
    CHECK(layout->weight_shards == 8);
    parallel.fsdp = "full";
    CHECK(make_layout(parallel, gpus(4, 8))->weight_shards == 32);
}

// tp 3 of 8 GPUs: 6 or 9 GPUs would do, or tp 2 or 4.
TEST_CASE("degrees that do not divide are refused with the nearest that do", "[layout]") {
    Parallel parallel;
    parallel.tp = 3;
    CHECK_THAT(make_layout(parallel, gpus(1, 8)).error().message,
               StartsWith("parallel: tp 3") && Contains("ask for 6 or 9 GPUs") && Contains("take tp 2 or 4"));
    parallel.tp = 16;  // more than there are
    CHECK_THAT(make_layout(parallel, gpus(1, 8)).error().message, Contains("ask for 16 GPUs") && Contains("take tp 8"));
    parallel = {};
    parallel.dp = 2;
    parallel.tp = 2;
    parallel.place = "net.json:3:5: parallel";
    CHECK_THAT(make_layout(parallel, gpus(1, 8)).error().message, StartsWith("net.json:3:5: parallel: dp 2 x tp 2") &&
                                                                      Contains("make 4") && Contains("write dp 4") &&
                                                                      Contains("ask for 4 GPUs"));
}

TEST_CASE("tensor ranks on several nodes are refused unless they are meant", "[layout]") {
    Parallel parallel;
    parallel.tp = 16;
    const auto refused = make_layout(parallel, gpus(2, 8));
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().message, Contains("tp 16") && Contains("take tp 8") && Contains("tp_over_nodes"));
    parallel.tp_over_nodes = true;
    const auto meant = make_layout(parallel, gpus(2, 8));
    REQUIRE(meant);
    CHECK(meant->tensor.nodes == 2);
    parallel.tp_over_nodes = false;
    parallel.tp = 4;  // three groups of four straddle nodes of six
    CHECK_THAT(make_layout(parallel, gpus(2, 6)).error().message, Contains("take tp 3 or 6"));
    CHECK(make_layout(parallel, gpus(1, 8)));
}

TEST_CASE("expert ranks are data ranks and divide them", "[layout]") {
    Parallel parallel;
    parallel.tp = 2;
    parallel.ep = 4;
    const auto layout = make_layout(parallel, gpus(1, 8));
    REQUIRE(layout);
    CHECK(layout->ep == 4);
    parallel.ep = 3;
    CHECK_THAT(make_layout(parallel, gpus(1, 8)).error().message, Contains("4 data ranks") && Contains("ep 2 or 4"));
}
