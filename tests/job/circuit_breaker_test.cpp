// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/circuit_breaker.h"

#include <catch2/catch.hpp>

using dlcast::CircuitBreaker;
using namespace std::chrono_literals;

TEST_CASE("three bad calls in a row open the breaker for a minute", "[circuit_breaker]") {
    CircuitBreaker breaker;
    const CircuitBreaker::Clock::time_point start{1h};
    CHECK(breaker.allows(start));
    CHECK(breaker.bad(start) == 0);
    CHECK(breaker.bad(start) == 0);
    CHECK_FALSE(breaker.good());  // not in a row
    CHECK(breaker.bad(start) == 0);
    CHECK(breaker.bad(start) == 0);
    CHECK(breaker.bad(start) == 3);
    CHECK_FALSE(breaker.allows(start + 59s));
    CHECK(breaker.allows(start + 60s));
}

TEST_CASE("after the rest one bad call opens it again, a good one closes it", "[circuit_breaker]") {
    CircuitBreaker breaker;
    const CircuitBreaker::Clock::time_point start{1h};
    for (int i = 0; i < 3; ++i) (void)breaker.bad(start);
    CHECK(breaker.bad(start + 61s) == 4);
    CHECK_FALSE(breaker.allows(start + 62s));
    CHECK(breaker.good());
    CHECK_FALSE(breaker.good());  // it was closed already
    CHECK(breaker.bad(start + 200s) == 0);
    CHECK(breaker.allows(start + 200s));
}
