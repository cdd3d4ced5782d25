// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/layout.h"

#include <catch2/catch.hpp>

using namespace dlcast;
using Catch::Matchers::Contains;

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
