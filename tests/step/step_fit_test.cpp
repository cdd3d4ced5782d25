// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/step_fit.h"

#include <cmath>

#include "tests/step/step_test_support.h"

using namespace dlcast;
using Catch::Matchers::WithinRel;

TEST_CASE("without measurements the constants stay at their priors", "[step_fit]") {
    CHECK(fit_steps({}).coefficients == prior_coefficients());
}

// A device that is a third slower at products than the priors say: sizes that the fit never saw come out right too.
TEST_CASE("measured steps move the constants to where they forecast others", "[step_fit]") {
    StepCoefficients truth = prior_coefficients();
    const auto product = static_cast<std::size_t>(StepConstant::product_simt);
    truth[product] += std::log(2.0 / 3.0);
    std::vector<MeasuredStepWork> steps;
    for (const std::int64_t size : {2048, 3072, 4096, 6144})
        for (const std::int64_t batch : {1024, 4096}) {
            MeasuredStepWork step{test::work_of(test::linear_net(4, size, batch)), 0.0, 20.0};
            step.measured_s = step_times(step.work, truth).step_s;
            steps.push_back(std::move(step));
        }
    std::vector<const MeasuredStepWork*> rows;
    for (const MeasuredStepWork& step : steps) rows.push_back(&step);
    const StepFit fit = fit_steps(rows);
    const StepWork other = test::work_of(test::linear_net(8, 5120, 2048));
    const double expected_s = step_times(other, truth).step_s;
    CHECK(step_times(other, prior_coefficients()).step_s < 0.75 * expected_s);
    CHECK_THAT(step_times(other, fit.coefficients).step_s, WithinRel(expected_s, 0.05));
    CHECK(fit_steps(rows).coefficients == fit.coefficients);
}

TEST_CASE("one absurd measurement among many does not carry the fit away", "[step_fit]") {
    std::vector<MeasuredStepWork> steps;
    for (int i = 0; i < 12; ++i) {
        MeasuredStepWork step{test::work_of(test::linear_net(4, 2048 + 256 * i, 2048)), 0.0, 1.0};
        step.measured_s = step_times(step.work, prior_coefficients()).step_s * (i == 0 ? 50.0 : 1.0);
        steps.push_back(std::move(step));
    }
    std::vector<const MeasuredStepWork*> rows;
    for (const MeasuredStepWork& step : steps) rows.push_back(&step);
    const StepFit fit = fit_steps(rows);
    CHECK_THAT(step_times(steps[6].work, fit.coefficients).step_s, WithinRel(steps[6].measured_s, 0.1));
}
