// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/scaling_efficiency.h"

#include <catch2/catch.hpp>

using namespace dlcast;
using Catch::Matchers::WithinRel;

namespace {
StepError run(const std::string& setup, int gpus, int nodes, double measured_ms, double predicted_ms) {
    StepError out;
    out.measured_ms = measured_ms;
    out.predicted_ms = predicted_ms;
    out.run = {setup, gpus, nodes, 32.0 * gpus};
    return out;
}
}  // namespace

// Equal samples a GPU: efficiency is the smallest run's time over the larger one's. Measured 100/125 = 80 % and
// 100/200 = 50 %, forecast 90/100 = 90 % and 90/180 = 50 %: errors of 10 and 0 points; perfect scaling errs by 20
// and 50.
TEST_CASE("scaling efficiency is judged against the smallest run of a set-up", "[scaling_efficiency]") {
    const ScalingReport report = scaling_report({run("a", 8, 1, 125, 100), run("a", 1, 1, 100, 90),
                                                 run("a", 16, 2, 200, 180), run("b", 8, 1, 1, 1), run("", 8, 1, 9, 1)});
    CHECK(report.all.cases == 2);
    CHECK_THAT(report.all.error_points, WithinRel(5.0, 1e-9));
    CHECK_THAT(report.all.perfect_points, WithinRel(35.0, 1e-9));
    CHECK(report.several_nodes.cases == 1);
    CHECK(report.several_nodes.error_points < 1e-9);
}

TEST_CASE("runs without a smaller one of their set-up have no efficiency", "[scaling_efficiency]") {
    const ScalingReport report = scaling_report({run("a", 8, 1, 125, 100), run("b", 1, 1, 100, 90)});
    CHECK(report.all.cases == 0);
    CHECK(to_text(report).empty());
}
