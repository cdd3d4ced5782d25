// SPDX-License-Identifier: GPL-2.0-or-later
#include "mpi/buckets.h"

#include <catch2/catch.hpp>

using namespace dlcast;

// From the last: 4 fills the first bucket of 4; 3 + 5 reach 6; 2 + 1 are what is left.
TEST_CASE("buckets fill from the last gradient on, the first one early", "[mpi]") {
    const auto buckets = make_buckets({1, 2, 5, 3, 4}, 4, 6);
    REQUIRE(buckets.size() == 3);
    CHECK(buckets[0].gradients == std::vector<std::size_t>{4});
    CHECK(buckets[0].elements == 4);
    CHECK(buckets[1].gradients == std::vector<std::size_t>{3, 2});
    CHECK(buckets[1].elements == 8);
    CHECK(buckets[2].gradients == std::vector<std::size_t>{1, 0});
    CHECK(buckets[2].elements == 3);
}

TEST_CASE("a network without weights has no buckets", "[mpi]") { CHECK(make_buckets({}, 4, 6).empty()); }
