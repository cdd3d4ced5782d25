// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/step_totals.h"

#include <catch2/catch.hpp>

#include "predictor/step/distinct_layers.h"
#include "tests/step/step_test_support.h"

using namespace dlcast;
using Catch::Matchers::WithinRel;

namespace {

// Any operator takes a millisecond, says what counts as the network.
class MillisecondModel final : public LayerTimeModel {
public:
    Result<std::vector<OperatorTime>> times(std::span<const OperatorQuery> queries) const override {
        asked += queries.size();
        OperatorTime time;
        time.median_s = 1e-3;
        return std::vector<OperatorTime>(queries.size(), time);
    }
    std::string by() const override { return "torch"; }
    std::string weights_id() const override { return "x"; }
    mutable std::size_t asked = 0;
};

Allocation one_gpu() {
    Allocation out;
    out.device = test::round_device();
    out.intra_node = {0.0, 100e9};
    return out;
}

}  // namespace

TEST_CASE("equal layers are one, but for the first that trains", "[step_totals]") {
    Workload workload = test::linear_net(5, 64, 8);
    workload.model.layers[4].bias = true;
    const DistinctLayers distinct = distinct_layers(workload.model);
    CHECK(distinct.place == std::vector<std::uint32_t>{0, 1, 1, 1, 2});
    CHECK(distinct.example == std::vector<std::size_t>{0, 1, 4});
    CHECK(distinct.count == std::vector<double>{1, 3, 1});
}

TEST_CASE("totals are those of the whole estimate", "[step_totals]") {
    Workload workload = test::linear_net(20, 2048, 64);
    workload.model.layers.push_back(test::square_linear(2));  // takes less than a hundredth of the step
    const MillisecondModel network;
    const auto whole = estimate_steps({{&workload, one_gpu()}}, network);
    REQUIRE(whole);
    const auto by_constants = estimate_steps({{&workload, one_gpu()}}, *make_analytic_model());
    REQUIRE(by_constants);
    const StepWeights weights;
    auto totals = StepTotals::make({{&workload, one_gpu()}}, weights);
    REQUIRE(totals);
    CHECK_THAT(totals->steps()[0].step_s, WithinRel(by_constants->front().step_s, 1e-12));
    CHECK_FALSE(totals->by_network(0));
    REQUIRE(totals->draw({0}, network));
    CHECK(totals->by_network(0));
    CHECK(whole->front().step_s != by_constants->front().step_s);
    CHECK_THAT(totals->steps()[0].step_s, WithinRel(whole->front().step_s, 1e-12));
    CHECK(totals->steps()[0].layers.empty());
    CHECK(totals->steps()[0].log_sd == 0.0);
    totals->spread_all();
    CHECK_THAT(totals->steps()[0].log_sd, WithinRel(whole->front().log_sd, 1e-12));
}

TEST_CASE("layers that take next to nothing are not asked about, nor another precision than fp32", "[step_totals]") {
    Workload workload = test::linear_net(3, 8192, 65536);  // milliseconds a layer beside microseconds for the last
    workload.model.layers.push_back(test::square_linear(2));
    const StepWeights weights;
    const MillisecondModel all, some, none;
    REQUIRE(estimate_steps({{&workload, one_gpu()}}, all));
    auto totals = StepTotals::make({{&workload, one_gpu()}}, weights);
    REQUIRE(totals);
    REQUIRE(totals->draw({0}, some));
    CHECK(some.asked > 0);
    CHECK(some.asked < all.asked);
    CHECK(totals->takes_network());
    workload.training.precision = Precision::amp;
    totals = StepTotals::make({{&workload, one_gpu()}}, weights);
    REQUIRE(totals);
    REQUIRE(totals->draw({0}, none));
    CHECK(none.asked == 0);
    CHECK_FALSE(totals->by_network(0));
    CHECK_FALSE(totals->takes_network());
}
