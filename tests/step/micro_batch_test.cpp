// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/micro_batch.h"

#include <catch2/catch.hpp>

using namespace dlcast;
using Catch::Matchers::Contains;

namespace {
Result<std::int64_t> of(std::int64_t global, std::int64_t accumulation, int dp) {
    Training training;
    training.global_batch = global;
    training.grad_accum = accumulation;
    Layout layout;
    layout.dp = dp;
    return micro_batch_of(training, layout);
}
}  // namespace

// 256 / (8 x 4) = 8.
TEST_CASE("a global batch is divided over data ranks and micro-steps", "[micro_batch]") {
    CHECK(*of(256, 4, 8) == 8);
    CHECK(*of(256, 1, 1) == 256);
    Training training;
    training.batch_size = 32;
    CHECK(*micro_batch_of(training, {}) == 32);
}

// 256 / (4 x 8) = 8 micro-steps; multiples of 3 x 8 = 24 around 256: 240 and 264.
TEST_CASE("a micro-batch beside a global batch leaves the micro-steps to the data ranks", "[micro_batch]") {
    Training training;
    training.global_batch = 256;
    training.micro_batch = 8;
    Layout layout;
    layout.dp = 4;
    CHECK(*micro_batch_of(training, layout) == 8);
    CHECK(micro_steps_of(training, layout) == 8);
    layout.dp = 32;
    CHECK(micro_steps_of(training, layout) == 1);
    layout.dp = 3;
    CHECK_THAT(micro_batch_of(training, layout).error().message,
               Contains("3 data ranks x a micro-batch of 8") && Contains("240 or 264"));
    training.global_batch = 3;
    layout.dp = 1;
    CHECK_THAT(micro_batch_of(training, layout).error().message,
               Contains("1 data rank x a micro-batch of 8; 8 would do, or a smaller micro-batch"));
    training.micro_batch = 0;
    training.grad_accum = 4;
    CHECK(micro_steps_of(training, layout) == 4);
}

// Multiples of 12 x 2 = 24 around 100: 96 and 120; around 10 only 24.
TEST_CASE("a global batch that does not divide is refused with the nearest that do", "[micro_batch]") {
    CHECK_THAT(of(100, 2, 12).error().message, Contains("12 data ranks x 2 micro-steps") && Contains("96 or 120"));
    CHECK_THAT(of(10, 2, 12).error().message, Contains("24 would do") && Contains("fewer GPUs"));
    CHECK_THAT(micro_batch_of({}, {}).error().message, Contains("batch_size"));
}
