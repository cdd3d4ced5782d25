// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/timing/least_time.h"

#include <catch2/catch.hpp>

#include "predictor/timing/physics.h"
#include "tests/timing/devices.h"
#include "tests/timing/operators.h"

using namespace dlcast;
using namespace dlcast::test;
using Catch::Matchers::WithinRel;

// 2 x 1024^3 = 2.147484e9 operations over 14.13 TFLOP/s; half data over 112 TFLOP/s.
TEST_CASE("a product takes its arithmetic at the peak of its precision at least", "[least_time]") {
    CHECK_THAT(least_call_s(v100(), linear(1024, 1024, 1024)), WithinRel(1.519805e-4, 1e-6));
    CHECK_THAT(least_call_s(v100(), linear(1024, 1024, 1024, Precision::fp16)), WithinRel(1.917396e-5, 1e-6));
}

// A V100's entry states no tf32 rate: products of 1024^3 keep their 12 MiB, of which 6 MiB are in the cache.
TEST_CASE("a precision without a figure is bounded by traffic alone", "[least_time]") {
    CHECK_THAT(least_call_s(v100(), linear(1024, 1024, 1024, Precision::tf32)),
               WithinRel(6.0 * 1024 * 1024 / 900e9, 1e-9));
    CHECK(least_arithmetic_s(v100(), linear(1024, 1024, 1024, Precision::tf32)) == 0.0);
}

TEST_CASE("a convolution with windows may multiply a quarter as often", "[least_time]") {
    const Operator wide = conv2d(8, 512, 512, 28, 3), narrow = conv2d(8, 512, 512, 28, 1);
    CHECK_THAT(least_arithmetic_s(v100(), wide), WithinRel(total_flops(wide) / 4 / 14.13e12, 1e-9));
    CHECK_THAT(least_arithmetic_s(v100(), narrow), WithinRel(total_flops(narrow) / 14.13e12, 1e-9));
}

// 2^20 elements read and written are 8 MiB, of which the cache keeps 6 MiB.
TEST_CASE("what the last cache holds needs no memory", "[least_time]") {
    CHECK_THAT(least_call_s(v100(), elementwise(Function::relu, 1024, 1024)),
               WithinRel(2.0 * 1024 * 1024 / 900e9, 1e-9));
    CHECK_THAT(least_call_s(v100(), elementwise(Function::relu, 16, 16)), WithinRel(256 / 14.13e12, 1e-9));
}
