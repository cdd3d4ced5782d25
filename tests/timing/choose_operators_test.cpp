// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/timing/choose_operators.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "tests/timing/devices.h"
#include "tests/timing/operators.h"

using namespace dlcast;
using namespace dlcast::test;

namespace {

// A launch of 20 us under which arithmetic of a picosecond each hides.
class Law final : public LayerTimeModel {
public:
    Result<std::vector<OperatorTime>> times(std::span<const OperatorQuery> queries) const override {
        std::vector<OperatorTime> out;
        for (const OperatorQuery& query : queries)
            out.push_back({std::max(20e-6 * std::exp(query.offsets->launch),
                                    1e-12 * flops(*query.op) * std::exp(query.offsets->compute)),
                           0.1});
        return out;
    }
    std::string by() const override { return "torch"; }
    std::string weights_id() const override { return ""; }
};

// 64 products: from 0.5 us of arithmetic, hidden under the launch up to the 22nd, to 29 ms.
struct Candidates {
    Device device = t4();
    std::vector<Operator> operators;
    std::vector<OperatorQuery> queries;
    Candidates() {
        for (int i = 0; i < 64; ++i)
            operators.push_back(linear(512, 512, static_cast<std::int64_t>(std::lround(std::pow(2.0, i / 4.0)))));
        for (const Operator& op : operators) queries.push_back({&op, &device, Clock::kernel});
    }
    bool hidden(std::size_t i) const { return 1e-12 * flops(operators[i]) < 20e-6; }
};

}  // namespace

TEST_CASE("two measurements are one under the launch and one above it", "[refine]") {
    const Candidates all;
    const auto chosen = choose_operators(all.queries, Law(), 2, 1);
    REQUIRE(chosen);
    REQUIRE(chosen->size() == 2);
    CHECK(all.hidden((*chosen)[0]) != all.hidden((*chosen)[1]));
}

TEST_CASE("a choice is of different calls, spread over their sizes, and the same again", "[refine]") {
    const Candidates all;
    const auto chosen = choose_operators(all.queries, Law(), 8, 1);
    REQUIRE(chosen);
    CHECK(std::set<std::size_t>(chosen->begin(), chosen->end()).size() == 8);
    CHECK(*chosen == *choose_operators(all.queries, Law(), 8, 1));
    // 42 calls stand above the launch, over three decades of time: three quarters of them at least have a measurement.
    std::set<std::size_t> quarters;
    for (const std::size_t i : *chosen)
        if (!all.hidden(i)) quarters.insert((i - 22) / 11);
    CHECK(quarters.size() >= 3);
}

TEST_CASE("a budget over the candidates takes them all", "[refine]") {
    const Candidates all;
    const auto chosen = choose_operators(all.queries, Law(), 100, 1);
    REQUIRE(chosen);
    CHECK(chosen->size() == 64);
}
