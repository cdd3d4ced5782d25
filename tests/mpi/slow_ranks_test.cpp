// SPDX-License-Identifier: GPL-2.0-or-later
#include "mpi/slow_ranks.h"

#include <catch2/catch.hpp>

using namespace dlcast;

// Rank 3 takes 2 and 8 times the median of two points: the geometric mean is 4.
TEST_CASE("a rank that takes longer than the median at the same layers is named", "[mpi]") {
    const Speeds speeds = compare_ranks({{1, 1, 1, 2}, {1, 1, 1, 8}}, {"a", "a", "b", "b"});
    REQUIRE(speeds.ranks.size() == 4);
    for (int r = 0; r < 3; ++r) CHECK_FALSE(speeds.ranks[static_cast<std::size_t>(r)].slow);
    CHECK(speeds.ranks[3].slow);
    CHECK(speeds.ranks[3].relative == Approx(4.0));
    CHECK(speeds.ranks[3].host == "b");
}

// Node c: both ranks take 1.2 of the median of 1.
TEST_CASE("a node whose ranks are all slower is named", "[mpi]") {
    const Speeds speeds = compare_ranks({{1, 1, 1, 1, 1.2, 1.2}}, {"a", "a", "b", "b", "c", "c"});
    REQUIRE(speeds.nodes.size() == 3);
    CHECK_FALSE(speeds.nodes[0].slow);
    CHECK_FALSE(speeds.nodes[1].slow);
    CHECK(speeds.nodes[2].host == "c");
    CHECK(speeds.nodes[2].slow);
    CHECK(speeds.nodes[2].relative == Approx(1.2));
}

TEST_CASE("a twentieth more is no slow rank, and no points compare nothing", "[mpi]") {
    CHECK_FALSE(compare_ranks({{1, 1.05}}, {"a", "b"}).ranks[1].slow);
    CHECK(compare_ranks({}, {"a", "b"}).ranks.empty());
}
