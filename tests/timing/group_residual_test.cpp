// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/timing/group_residual.h"

#include <catch2/catch.hpp>

#include "tests/timing/operators.h"

using namespace dlcast;
using Catch::Matchers::WithinAbs;

TEST_CASE("calls like the measured ones take their error, calls far from them keep the forecast", "[group_fit]") {
    // Small products err by +20 %, large ones by -20 %.
    std::vector<Operator> ops;
    for (const std::int64_t size : {100, 120, 140, 4000, 4400, 4800}) ops.push_back(test::linear(size, size, size));
    std::vector<ResidualRow> rows;
    for (const Operator& op : ops) rows.push_back({&op, 1e-9 * flops(op), op.m < 1000 ? 0.2 : -0.2});
    const GroupResidual residual(rows);
    const auto at = [&](std::int64_t size) {
        const Operator op = test::linear(size, size, size);
        return residual.at(op, 1e-9 * flops(op));
    };
    // Three alike rows against a scatter of 0.10: their mean is believed to 3 x 0.25^2 / (3 x 0.25^2 + 0.10^2) = 0.95.
    CHECK_THAT(at(125), WithinAbs(0.95 * 0.2, 0.03));
    CHECK_THAT(at(4300), WithinAbs(-0.95 * 0.2, 0.03));
    CHECK_THAT(at(700), WithinAbs(0.0, 0.08));  // between them
}

TEST_CASE("without rows nothing is corrected, and a stray row is not believed", "[group_fit]") {
    const Operator op = test::linear(64, 64, 64);
    CHECK(GroupResidual().at(op, 1e-5) == 0.0);
    const GroupResidual strayed({{&op, 1e-5, 3.0}});
    CHECK(strayed.at(op, 1e-5) < 0.5);
}
