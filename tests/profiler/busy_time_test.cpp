// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/busy_time.h"

#include <catch2/catch.hpp>

using namespace dlcast;

// 0 to 4 and 2 to 6 cover 6; 8 to 9 one more; 3 to 5 lies inside.
TEST_CASE("kernels that run at the same time count once", "[profiler]") {
    CHECK(busy_s({{8, 9}, {0, 4}, {3, 5}, {2, 6}}) == Approx(7e-9));
    CHECK(busy_s({}) == 0.0);
    CHECK(busy_s({{5, 5}}) == 0.0);
}
