// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/overlap.h"

#include <catch2/catch.hpp>

using namespace dlcast;
using Catch::Matchers::WithinRel;

namespace {
constexpr double MiB = 1024.0 * 1024.0;
}

// 0.5 + 0.6 MiB pass 1 MiB, then 20 + 10 pass 25, and 3 are left.
TEST_CASE("the first bucket closes at 1 MiB and the others at 25 MiB", "[overlap]") {
    const auto buckets = fill_buckets({{1, 0.5 * MiB}, {1, 0.6 * MiB}, {1, 20 * MiB}, {1, 10 * MiB}, {1, 3 * MiB}}, {});
    REQUIRE(buckets.size() == 3);
    CHECK_THAT(buckets[0], WithinRel(1.1 * MiB, 1e-12));
    CHECK_THAT(buckets[1], WithinRel(30 * MiB, 1e-12));
    CHECK_THAT(buckets[2], WithinRel(3 * MiB, 1e-12));
}

// Gradients of 1 byte each in buckets of 1 byte; backward 2 s a layer, 3 s a transfer: ready at 2 and 4, sent 2-5 and
// 5-8, backward ends at 4: 4 s stay exposed.
TEST_CASE("transfers wait for their gradient and for the stream", "[overlap]") {
    const auto result = overlap_backward({{2, 1}, {2, 1}}, {1, 1}, [](double) { return 3.0; });
    CHECK_THAT(result.communication_s, WithinRel(6.0, 1e-12));
    CHECK_THAT(result.exposed_s, WithinRel(4.0, 1e-12));
}

// The last gradient is ready when backward ends, so its bucket can never hide: ready at 10, 1 s.
TEST_CASE("of short transfers only the last bucket is exposed", "[overlap]") {
    const auto result = overlap_backward({{5, 1}, {5, 1}}, {1, 1}, [](double) { return 1.0; });
    CHECK_THAT(result.exposed_s, WithinRel(1.0, 1e-12));
}

TEST_CASE("without gradients nothing is sent", "[overlap]") {
    const auto result = overlap_backward({{5, 0}, {5, 0}}, {}, [](double) { return 1.0; });
    CHECK(result.communication_s == 0);
    CHECK(result.exposed_s == 0);
    CHECK(overlap_backward({}, {}, [](double) { return 1.0; }).exposed_s == 0);
}
