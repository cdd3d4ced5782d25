// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/least_step.h"

#include <catch2/catch.hpp>

#include "tests/step/step_test_support.h"

using namespace dlcast;
using Catch::Matchers::WithinRel;

// Four layers of 512 x 2048 x 2048, forward and two gradients, but for the first layer's, whose input needs none: 11
// products of 2 x 512 x 2048^2 operations over 10 TFLOP/s.
TEST_CASE("a step takes the arithmetic of its products at the device's peak at least", "[least_step]") {
    const double product_s = 2.0 * 512 * 2048 * 2048 / 1e13;
    CHECK_THAT(least_step_s(test::work_of(test::linear_net(4, 2048, 512))), WithinRel(11 * product_s, 1e-9));
    Workload accumulated = test::linear_net(4, 2048, 512);
    accumulated.training.grad_accum = 4;
    CHECK_THAT(least_step_s(test::work_of(accumulated)), WithinRel(44 * product_s, 1e-9));
}
