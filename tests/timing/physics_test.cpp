// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/timing/physics.h"

#include <catch2/catch.hpp>

#include "tests/timing/devices.h"
#include "tests/timing/operators.h"

using namespace dlcast;
using namespace dlcast::test;
using Catch::Matchers::WithinRel;

TEST_CASE("a small board sustains what its power feeds, a large one its peak", "[physics]") {
    const Operator op = linear(1024, 1024, 1024);
    CHECK_THAT(sustained_flops_per_s(t4(), op), WithinRel(4.0e12, 1e-9));      // 70 W / 17.5 W per TFLOPS
    CHECK_THAT(sustained_flops_per_s(v100(), op), WithinRel(14.13e12, 1e-9));  // 250 / 17.5 = 14.29 feeds the peak
    CHECK_THAT(sustained_flops_per_s(h100(), op), WithinRel(66.9e12, 1e-9));   // 700 / 6.2 = 113
    CHECK_THAT(sustained_flops_per_s(mi210(), op), WithinRel(37.5e12, 1e-9));  // 300 / 8, of 45.3 in matrix units
    CHECK_THAT(sustained_flops_per_s(mi210(), elementwise(Function::add, 8, 8)),
               WithinRel(22.6e12, 1e-9));  // vector units
}

TEST_CASE("half precision runs on tensor units where there are any, and as fp32 elsewhere", "[physics]") {
    const Operator op = linear(1024, 1024, 1024, Precision::fp16);
    CHECK(on_tensor_units(v100(), op));
    CHECK_THAT(sustained_flops_per_s(v100(), op), WithinRel(61.6e12, 1e-9));  // 112 (250 W feed 120) x 0.55
    CHECK_THAT(sustained_flops_per_s(t4(), op), WithinRel(13.44e12, 1e-9));   // 0.48 x 70 W = 33.6, x 0.40
    CHECK_FALSE(on_tensor_units(p100(), op));
    CHECK_THAT(sustained_flops_per_s(p100(), op), WithinRel(9.34e12, 1e-9));
}

TEST_CASE("each narrower precision is at least as fast on a device that has it", "[physics]") {
    const auto rate = [](Precision p) { return sustained_flops_per_s(h100(), linear(1024, 1024, 1024, p)); };
    CHECK(rate(Precision::fp32) < rate(Precision::tf32));
    CHECK(rate(Precision::tf32) < rate(Precision::bf16));
    CHECK(rate(Precision::bf16) == rate(Precision::amp));
    CHECK(rate(Precision::bf16) < rate(Precision::fp8));
}

TEST_CASE("a depthwise convolution runs on the vector units in every precision", "[physics]") {
    Operator op = conv2d(32, 64, 64, 56, 3);
    op.groups = 64;
    op.precision = Precision::fp16;
    CHECK_FALSE(on_tensor_units(v100(), op));
    CHECK_THAT(sustained_flops_per_s(v100(), op), WithinRel(14.13e12, 1e-9));
}

TEST_CASE("the bounds of a product are its arithmetic over the rate and its traffic over the bandwidth", "[physics]") {
    const Bounds b = bounds(v100(), linear(1024, 1024, 1024));
    CHECK_THAT(b.compute_s, WithinRel(2147483648.0 / 14.13e12, 1e-9));  // 2 x 1024^3 operations: 152 us
    CHECK_THAT(b.memory_s, WithinRel(12582912.0 / 900e9, 1e-9));        // 3 x 1024^2 x 4 bytes: 14 us
    CHECK_THAT(roofline_s(v100(), linear(1024, 1024, 1024)), WithinRel(b.compute_s, 1e-9));
}

TEST_CASE("a whole backward is two products, a training step three", "[physics]") {
    Operator op = linear(64, 32, 16);  // 2 x 64 x 32 x 16 = 65536 operations, 4 x (2048 + 512 + 1024) = 14336 bytes
    CHECK(total_flops(op) == 65536.0);
    op.phase = Phase::backward;
    CHECK(total_flops(op) == 131072.0);
    CHECK(total_bytes(op) == 28672.0);
    op.phase = Phase::train_step;
    CHECK(total_flops(op) == 196608.0);
    op.phase = Phase::backward_data;
    CHECK(total_flops(op) == 65536.0);
}

TEST_CASE("the smooth maximum is the norm of its power", "[physics]") {
    CHECK_THAT(smooth_maximum(3.0, 4.0, 2.0), WithinRel(5.0, 1e-12));
    CHECK_THAT(smooth_maximum(1.0, 1.0, 3.0), WithinRel(1.2599210498948732, 1e-12));  // the cube root of 2
    CHECK_THAT(smooth_maximum(7.0, 0.0, 3.0), WithinRel(7.0, 1e-12));
    CHECK(smooth_maximum(0.0, 0.0, 3.0) == 0.0);
}
