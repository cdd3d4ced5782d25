// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/step_doubt.h"

#include <cmath>

#include "predictor/step/step_physics.h"
#include "predictor/step/step_weights.h"
#include "tests/step/step_test_support.h"

using namespace dlcast;
using Catch::Matchers::WithinRel;

namespace {

StepWork some_work(const std::string& architecture) {
    Allocation allocation;
    allocation.device = test::round_device();
    allocation.device.architecture = architecture;
    return *step_work(test::linear_net(4, 2048, 4096), allocation);
}

std::size_t place(StepConstant which) { return static_cast<std::size_t>(which); }

}  // namespace

// Raising a constant by its deviation, and lowering it, moves the logarithm of the step by its share, to first order.
TEST_CASE("a constant that is not known spreads what rests on it", "[step_doubt]") {
    const StepWork work = some_work("volta");
    const StepCoefficients at = prior_coefficients();
    StepCoefficients deviations{};
    CHECK(constants_log_sd(work, at, deviations) == 0.0);
    const std::size_t rate = place(StepConstant::product_simt);
    deviations[rate] = 0.01;
    StepCoefficients up = at, down = at;
    up[rate] += 0.01;
    down[rate] -= 0.01;
    const double moved = std::abs(std::log(step_times(work, up).step_s / step_times(work, down).step_s)) / 2;
    CHECK(moved > 1e-3);
    CHECK_THAT(constants_log_sd(work, at, deviations), WithinRel(1.2 * moved, 1e-3));
}

TEST_CASE("another generation's constants are no matter", "[step_doubt]") {
    StepCoefficients deviations{};
    deviations[place(StepConstant::simt_volta)] = 0.2;
    CHECK(constants_log_sd(some_work("volta"), prior_coefficients(), deviations) > 0.0);
    CHECK(constants_log_sd(some_work("hopper"), prior_coefficients(), deviations) == 0.0);
}

TEST_CASE("independent doubts add in quadrature", "[step_doubt]") {
    const StepWork work = some_work("volta");
    const StepCoefficients at = prior_coefficients();
    StepCoefficients one{}, other{}, both{};
    one[place(StepConstant::product_simt)] = both[place(StepConstant::product_simt)] = 0.1;
    other[place(StepConstant::eager_step_s)] = both[place(StepConstant::eager_step_s)] = 0.5;
    const double a = constants_log_sd(work, at, one), b = constants_log_sd(work, at, other);
    CHECK_THAT(constants_log_sd(work, at, both), WithinRel(std::hypot(a, b), 1e-12));
}
