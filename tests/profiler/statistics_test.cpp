// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/statistics.h"

#include <catch2/catch.hpp>

using namespace dlcast;

// 1 .. 25: median 13. Ranks (25 - 9.8) / 2 = 7.6 -> 7 and 1 + (25 + 9.8) / 2 = 18.4 -> 19: (19 - 7) / 2 / 13.
TEST_CASE("the median's interval lies between order statistics", "[profiler]") {
    std::vector<double> times;
    for (int i = 25; i >= 1; --i) times.push_back(i);
    const Statistics s = statistics_of(times);
    CHECK(s.repetitions == 25);
    CHECK(s.median_s == 13.0);
    CHECK(s.relative_ci == Approx(6.0 / 13.0));
    CHECK(s.fastest_s == 1.0);
    CHECK(s.slowest_s == 25.0);
    CHECK(s.outliers == 0);
}

// Quartiles of 1, 2, 3, 4, 5, 6, 7, 100 are 2.75 and 6.25, their range 3.5: fences at -7.75 and 16.75. Median 4.5.
TEST_CASE("an outlier is counted and kept", "[profiler]") {
    const Statistics s = statistics_of({1, 2, 3, 4, 5, 6, 7, 100});
    CHECK(s.outliers == 1);
    CHECK(s.median_s == 4.5);
    CHECK(s.slowest_s == 100.0);
}

TEST_CASE("the interval of few times is their range", "[profiler]") {
    CHECK(statistics_of({2.0}).relative_ci == 0.0);
    CHECK(statistics_of({1.0, 2.0, 3.0}).relative_ci == Approx(0.5));  // (3 - 1) / 2 / 2
}
