// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/collective.h"

#include <catch2/catch.hpp>

using namespace dlcast;
using Catch::Matchers::WithinRel;

namespace {
constexpr std::uint64_t GB25 = 25'000'000'000;
}

// 25 GB over 25 GB/s is 1 s, so t is the factor 2(p-1)/p itself.
TEST_CASE("a ring all-reduce sends each byte 2(p-1)/p times", "[collective]") {
    const auto [ranks, seconds] = GENERATE(table<int, double>({{1, 0.0}, {2, 1.0}, {4, 1.5}, {8, 1.75}}));
    const auto t = ring_allreduce_s(ranks, GB25, Link{.latency_s = 0.0, .bandwidth_Bps = 25e9});
    REQUIRE(t);
    CHECK_THAT(*t, WithinRel(seconds, 1e-12));  // four roundings
}

// 2 (4 - 1) messages of 10 us each, and no bytes.
TEST_CASE("an all-reduce of nothing costs its messages", "[collective]") {
    const auto t = ring_allreduce_s(4, 0, Link{.latency_s = 10e-6, .bandwidth_Bps = 25e9});
    REQUIRE(t);
    CHECK_THAT(*t, WithinRel(60e-6, 1e-12));
}

TEST_CASE("an all-gather and a reduce-scatter make an all-reduce", "[collective]") {
    const Link link{.latency_s = 5e-6, .bandwidth_Bps = 12e9};
    const auto half = ring_allgather_s(6, 123'456'789, link);
    const auto whole = ring_allreduce_s(6, 123'456'789, link);
    REQUIRE((half && whole));
    CHECK_THAT(2 * *half, WithinRel(*whole, 1e-12));
}

TEST_CASE("more bytes never take less", "[collective]") {
    const Group group{.nodes = 4, .ranks_per_node = 8, .intra_node = {3e-6, 200e9}, .inter_node = {8e-6, 20e9}};
    double before = 0;
    for (std::uint64_t bytes = 0; bytes < 1'000'000'000; bytes = bytes * 3 + 1) {
        const auto t = allreduce_s(group, bytes);
        REQUIRE(t);
        CHECK(*t >= before);
        before = *t;
    }
}

// Inside: 2 x 7/8 of 25 GB at 100 GB/s = 0.4375 s. Between: each rank's eighth, 3.125 GB, 2 x 1/2 at 12.5 GB/s = 0.25
// s.
TEST_CASE("over nodes each rank carries its part of the array", "[collective]") {
    const Group group{.nodes = 2, .ranks_per_node = 8, .intra_node = {0.0, 100e9}, .inter_node = {0.0, 12.5e9}};
    const auto t = allreduce_s(group, GB25);
    REQUIRE(t);
    CHECK_THAT(*t, WithinRel(0.4375 + 0.25, 1e-12));
}

TEST_CASE("on one node the staged all-reduce is the ring", "[collective]") {
    const Link link{.latency_s = 5e-6, .bandwidth_Bps = 12e9};
    const auto staged = allreduce_s({.nodes = 1, .ranks_per_node = 4, .intra_node = link, .inter_node = {}}, 1'000'000);
    const auto ring = ring_allreduce_s(4, 1'000'000, link);
    REQUIRE((staged && ring));
    CHECK_THAT(*staged, WithinRel(*ring, 1e-12));
}

TEST_CASE("a collective refuses no ranks and links without bandwidth", "[collective]") {
    CHECK_FALSE(ring_allreduce_s(0, 1, Link{0.0, 1e9}));
    CHECK_FALSE(ring_allreduce_s(-3, 1, Link{0.0, 1e9}));
    const auto t = ring_allreduce_s(2, 1, Link{});
    REQUIRE_FALSE(t);
    CHECK(t.error().fault == Fault::invalid_argument);
    CHECK(ring_allreduce_s(1, 1, Link{}));  // one rank needs no link
}

// 1024 ranks, nothing to send: 10 levels up and down a tree at 5 us, where a ring needs 2 x 1023 messages.
TEST_CASE("a tree needs twice log2(p) messages", "[collective]") {
    const auto t = tree_allreduce_s(1024, 0, Link{.latency_s = 5e-6, .bandwidth_Bps = 25e9});
    REQUIRE(t);
    CHECK_THAT(*t, WithinRel(100e-6, 1e-12));
    CHECK(*tree_allreduce_s(1, GB25, Link{}) == 0.0);
    CHECK_FALSE(tree_allreduce_s(2, GB25, Link{}));
}
