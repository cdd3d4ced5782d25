// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/timing/group_fit.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace dlcast;
using Catch::Matchers::WithinAbs;

namespace {

// Ten calls from launch-bound to far above it, half of them bound by arithmetic, half by traffic.
std::vector<double> law(const GroupOffsets& o) {
    std::vector<double> out;
    for (int i = 0; i < 10; ++i) {
        const double work_s = 1e-6 * std::pow(4.0, i);
        const double compute_s = work_s * std::exp(o.compute) * (i % 2 == 0 ? 1.0 : 0.1);
        const double memory_s = work_s * std::exp(o.memory) * (i % 2 == 0 ? 0.1 : 1.0);
        out.push_back(std::log(2e-5 * std::exp(o.launch) + std::max(compute_s, memory_s)));
    }
    return out;
}

Result<std::vector<double>> forecast(const GroupOffsets& offsets) { return law(offsets); }

}  // namespace

TEST_CASE("rows of a GPU give back the constants that made them", "[group_fit]") {
    const GroupPrior weak{5.0, 5.0, 5.0, 0.01};  // so that the rows alone decide
    const auto fitted = fit_group_offsets(law({0.5, -0.3, 0.2, 0}), forecast, weak);
    REQUIRE(fitted);
    CHECK_THAT(fitted->launch, WithinAbs(0.5, 1e-3));
    CHECK_THAT(fitted->compute, WithinAbs(-0.3, 1e-3));
    CHECK_THAT(fitted->memory, WithinAbs(0.2, 1e-3));
    CHECK(fitted->rows == 10);
}

TEST_CASE("what no row shows stays where it was, and a stray row moves little", "[group_fit]") {
    // Only large calls bound by arithmetic: launch and traffic stay unknown.
    const auto large = [](const GroupOffsets& o) -> Result<std::vector<double>> {
        std::vector<double> out;
        for (const std::size_t i : {4u, 6u, 8u}) out.push_back(law(o)[i]);
        return out;
    };
    std::vector<double> measured = *large({0.0, 0.25, 0.0, 0});
    const auto fitted = fit_group_offsets(measured, large);
    REQUIRE(fitted);
    CHECK_THAT(fitted->compute, WithinAbs(0.25, 0.03));  // the prior pulls a little
    CHECK_THAT(fitted->memory, WithinAbs(0.0, 1e-6));

    measured[1] += 3.0;  // twenty times too long
    const auto strayed = fit_group_offsets(measured, large);
    REQUIRE(strayed);
    CHECK_THAT(strayed->compute, WithinAbs(0.25, 0.1));
}

TEST_CASE("no rows leave a GPU unseen, and a forecast that fails is told", "[group_fit]") {
    const auto none = fit_group_offsets({}, forecast);
    REQUIRE(none);
    CHECK(none->rows == 0);
    CHECK(none->compute == 0.0);
    const auto broken = fit_group_offsets(
        {1.0}, [](const GroupOffsets&) -> Result<std::vector<double>> { return std::vector<double>{NAN}; });
    CHECK_FALSE(broken);
}
