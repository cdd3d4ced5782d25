// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/step_errors.h"

#include <catch2/catch.hpp>

using namespace dlcast;
using Catch::Matchers::WithinRel;

namespace {
StepError row(const std::string& group, double measured_ms, double predicted_ms) {
    StepError out;
    out.group = group;
    out.facts["source"] = group.substr(0, 1);
    out.measured_ms = measured_ms;
    out.predicted_ms = predicted_ms;
    return out;
}
}  // namespace

// Errors of 10, 20, 30, 40 and 100 %: mean 40, median 30; the 90 % point lies 0.6 of the way from 40 to 100, at 76.
TEST_CASE("figures of errors are those of the textbook", "[step_errors]") {
    const std::vector<StepError> cases = {row("a", 100, 110), row("b", 100, 80), row("c", 100, 130), row("d", 100, 60),
                                          row("e", 100, 0)};
    const StepFigures figures = step_figures(cases);
    CHECK(figures.cases == 5);
    CHECK_THAT(figures.mape_pct, WithinRel(40.0, 1e-12));
    CHECK_THAT(figures.median_ape_pct, WithinRel(30.0, 1e-12));
    CHECK_THAT(figures.p90_ape_pct, WithinRel(76.0, 1e-12));
    CHECK_THAT(figures.bias_pct, WithinRel(-20.0, 1e-12));  // of 10, -20, 30, -40, -100
}

// Medians of measured 100, 110, 300 and predicted 90, 95, 100.
TEST_CASE("repeats of a set-up count once, by their medians", "[step_errors]") {
    const auto cases = one_a_group({row("a", 100, 90), row("a", 110, 95), row("a", 300, 100), row("b", 50, 50)});
    REQUIRE(cases.size() == 2);
    CHECK(cases[0].measured_ms == 110);
    CHECK(cases[0].predicted_ms == 95);
}

TEST_CASE("figures are grouped by facts, and no cases are no error", "[step_errors]") {
    const auto by = step_figures_by({row("a", 100, 110), row("b", 100, 150)}, {"source", "absent"});
    REQUIRE(by.count("source") == 1);
    CHECK(by.count("absent") == 0);
    CHECK_THAT(by.at("source").at("b").mape_pct, WithinRel(50.0, 1e-12));
    CHECK(step_figures({}).cases == 0);
    const Value value = to_value(step_figures({row("a", 100, 110)}), by);
    CHECK(value.find("rows")->as_integer() == 1);
    CHECK(value.find("by")->find("source")->find("a")->find("mape_pct")->is_number());
}

// log 1.2 = 0.182 and log 1.1 = 0.095; with a log_sd of 0.1 the interval ends 0.164 off.
TEST_CASE("measurements below and above the interval are told apart", "[step_errors]") {
    std::vector<StepError> cases{row("a", 100, 120), row("b", 110, 100), row("c", 100, 110), row("d", 120, 100),
                                 row("e", 100, 0)};
    for (StepError& one : cases) one.log_sd = 0.1;
    const StepFigures figures = step_figures(cases);
    CHECK_THAT(figures.below_pct, WithinRel(20.0, 1e-12));
    CHECK_THAT(figures.above_pct, WithinRel(40.0, 1e-12));  // and the one that could not be forecast
    CHECK_THAT(figures.coverage_pct, WithinRel(40.0, 1e-12));
}
