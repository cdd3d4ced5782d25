// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/nccl_residual.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <set>

using namespace dlcast;
using Catch::Matchers::WithinRel;

namespace {

// 10 us and 100 GB/s, from 8 B to 4 GiB.
std::vector<TablePoint> table() {
    std::vector<TablePoint> points;
    for (double bytes = 8; bytes <= 4294967296.0; bytes *= 2) points.push_back({bytes, 10 + bytes / 1e5});
    return points;
}

}  // namespace

TEST_CASE("measured sizes are spread over small, middle and large", "[nccl]") {
    const auto points = table();
    const auto chosen = choose_sizes(points, 3);
    REQUIRE(chosen.size() == 3);
    std::set<int> thirds;
    for (const std::size_t i : chosen)
        thirds.insert(points[i].bytes <= 65536 ? 0 : points[i].bytes <= 16777216 ? 1 : 2);
    CHECK(thirds.size() == 3);
}

TEST_CASE("only sizes that were measured are chosen, fewer where there are fewer", "[nccl]") {
    auto points = table();
    for (auto& point : points) point.may_measure = false;
    CHECK(choose_sizes(points, 3).empty());
    points[4].may_measure = points[9].may_measure = true;
    auto chosen = choose_sizes(points, 3);
    std::sort(chosen.begin(), chosen.end());
    CHECK(chosen == std::vector<std::size_t>{4, 9});
}

// A table 1.5 times slower than the form at all sizes: three sizes say so. The residual keeps 2 to 4 % of its way
// towards the form, whose error has a standard deviation of 25 %.
TEST_CASE("a table that is slower throughout is forecast slower throughout", "[nccl]") {
    const auto points = table();
    std::vector<MeasuredPoint> measured;
    for (const std::size_t i : choose_sizes(points, 3)) measured.push_back({i, 1.5 * points[i].predicted_us});
    const auto times = correct_by_residual(points, measured);
    for (std::size_t i = 0; i < points.size(); ++i) CHECK_THAT(times[i], WithinRel(1.5 * points[i].predicted_us, 0.05));
}

TEST_CASE("without measured sizes the form stands", "[nccl]") {
    const auto points = table();
    const auto times = correct_by_residual(points, {});
    for (std::size_t i = 0; i < points.size(); ++i) CHECK_THAT(times[i], WithinRel(points[i].predicted_us, 1e-12));
}

TEST_CASE("a corrected table still rises with the size", "[nccl]") {
    const auto points = table();
    // Ten times slower at 512 B, as a stall would make it; as the form says at 1 KiB.
    const auto times = correct_by_residual(points, std::vector<MeasuredPoint>{{6, 100.0}, {7, 10.0}});
    CHECK(std::is_sorted(times.begin(), times.end()));
}
