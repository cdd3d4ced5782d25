// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/timing/refined_operators.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/timing/devices.h"
#include "tests/timing/operators.h"

using namespace dlcast;
using namespace dlcast::test;
using Catch::Matchers::Contains;
using Catch::Matchers::WithinRel;

namespace {

// 20 us to launch, and each multiply-add or byte a picosecond, under offsets as a network has them.
class Law final : public LayerTimeModel {
public:
    Result<std::vector<OperatorTime>> times(std::span<const OperatorQuery> queries) const override {
        std::vector<OperatorTime> out;
        for (const OperatorQuery& query : queries) {
            const GroupOffsets offsets = query.offsets == nullptr ? GroupOffsets{} : *query.offsets;
            out.push_back(
                {20e-6 * std::exp(offsets.launch) + 1e-12 * flops(*query.op) * std::exp(offsets.compute), 0.1});
        }
        return out;
    }
    std::string by() const override { return "torch"; }
    std::string weights_id() const override { return "0123"; }
};

// Products that take `factor` times the law's arithmetic.
FittedGroup slower(double factor) {
    std::vector<Operator> operators;
    for (std::int64_t n = 256; n <= 4096; n *= 2) operators.push_back(linear(512, 512, n));
    std::vector<MeasuredOperator> measured;
    for (const Operator& op : operators) measured.push_back({&op, Clock::kernel, 20e-6 + factor * 1e-12 * flops(op)});
    const auto fit = fit_group(measured, t4(), Law());
    REQUIRE(fit);
    return *fit;
}

double time_s(const LayerTimeModel& model, const Operator& op, const Device& device, Clock clock = Clock::kernel) {
    const OperatorQuery query{&op, &device, clock};
    const auto times = model.times({&query, 1});
    REQUIRE(times);
    return times->front().median_s;
}

RefinedOperators on_t4() { return {"abcd", {{"T4", {OperatorFamily::linear, false, false}, slower(1.5)}}}; }

}  // namespace

TEST_CASE("measured calls change forecasts of their group on their GPU alone", "[refine]") {
    const auto model = refine_model(std::make_unique<Law>(), on_t4());
    const Operator unmeasured = linear(512, 512, 3000);
    // 20 us and 1.5 times 1.573 ms; the constants are drawn towards none, the rest makes up for it.
    CHECK_THAT(time_s(*model, unmeasured, t4()), WithinRel(20e-6 + 1.5e-12 * flops(unmeasured), 0.03));
    for (int again = 0; again < 2; ++again)  // the second time from memory
        CHECK(time_s(*model, unmeasured, v100()) == time_s(Law(), unmeasured, v100()));
    CHECK(time_s(*model, unmeasured, t4(), Clock::session) == time_s(Law(), unmeasured, t4()));
    const Operator convolution = conv2d(8, 64, 64, 56, 3);
    CHECK(time_s(*model, convolution, t4()) == time_s(Law(), convolution, t4()));
    CHECK(model->by() == "torch");
    CHECK(model->weights_id() == "0123+abcd");
}

TEST_CASE("a refinement that is written and read again forecasts the same", "[refine]") {
    const std::string text = write_refined_operators(on_t4());
    auto again = parse_refined_operators(text, "refined_operators.toml");
    INFO((again ? "" : again.error().message));
    REQUIRE(again);
    CHECK(again->id == "abcd");
    const auto before = refine_model(std::make_unique<Law>(), on_t4());
    const auto after = refine_model(std::make_unique<Law>(), std::move(*again));
    for (const std::int64_t n : {300, 2000, 100000}) {
        const Operator op = linear(512, 512, n);
        CHECK_THAT(time_s(*after, op, t4()), WithinRel(time_s(*before, op, t4()), 1e-4));
    }
}

// 20 us to launch in the law alone; a refined launch takes e or e^2 of it.
TEST_CASE("a kind that newer constants are not for keeps older ones, which go once nothing needs them", "[refine]") {
    const OperatorGroup row_wise_calls{OperatorFamily::row_wise, false, false};
    const auto launching = [&](double log_launch, std::vector<OperatorKind> except) {
        FittedGroup fit;
        fit.offsets.launch = log_launch;
        return RefinedGroup{"T4", row_wise_calls, fit, std::move(except)};
    };
    std::vector<RefinedGroup> groups{launching(1.0, {})};
    replace_group(groups, launching(2.0, {OperatorKind::softmax}));
    REQUIRE(groups.size() == 2);
    auto again = parse_refined_operators(write_refined_operators({"abcd", groups}), "refined_operators.toml");
    INFO((again ? "" : again.error().message));
    REQUIRE(again);
    const auto model = refine_model(std::make_unique<Law>(), std::move(*again));
    const Operator softmax = row_wise(OperatorKind::softmax, 1, 1), norm = row_wise(OperatorKind::layer_norm, 1, 1);
    CHECK_THAT(time_s(*model, softmax, t4()), WithinRel(20e-6 * std::exp(1.0), 1e-5));
    CHECK_THAT(time_s(*model, norm, t4()), WithinRel(20e-6 * std::exp(2.0), 1e-5));

    replace_group(groups, launching(3.0, {OperatorKind::layer_norm}));  // softmax needs the first no more
    REQUIRE(groups.size() == 2);
    CHECK(groups[0].fit.offsets.launch == 2.0);
    CHECK(groups[1].fit.offsets.launch == 3.0);
    replace_group(groups, launching(4.0, {}));
    CHECK(groups.size() == 1);
}

TEST_CASE("of a measured GPU, kinds that were left out are told from kinds that nobody measured", "[refine]") {
    class Unseen final : public LayerTimeModel {
    public:
        Result<std::vector<OperatorTime>> times(std::span<const OperatorQuery> queries) const override {
            return std::vector<OperatorTime>(queries.size(), OperatorTime{1e-3, 0.1, {.unseen_gpu = true}});
        }
        std::string by() const override { return "torch"; }
        std::string weights_id() const override { return "0123"; }
    };
    const RefinedGroup row_wise_calls{
        "T4", {OperatorFamily::row_wise, false, false}, FittedGroup{}, {OperatorKind::softmax}};
    const auto model = refine_model(std::make_unique<Unseen>(), {"abcd", {row_wise_calls}});
    const auto doubts = [&](const Operator& op, const Device& device) {
        const OperatorQuery query{&op, &device};
        return model->times({&query, 1})->front().doubts;
    };
    const Operator softmax = row_wise(OperatorKind::softmax, 1, 1), convolution = conv2d(8, 64, 64, 56, 3);
    CHECK(doubts(softmax, t4()) == Doubts{.left_calls = true});
    CHECK(doubts(convolution, t4()) == Doubts{.unseen_calls = true});
    CHECK(doubts(softmax, v100()) == Doubts{.unseen_gpu = true});
}

TEST_CASE("a broken refinement of operators is refused with its place", "[refine]") {
    const auto refusal = [](const std::string& text) {
        const auto read = parse_refined_operators(text, "refined_operators.toml");
        REQUIRE_FALSE(read);
        return read.error().message;
    };
    CHECK_THAT(refusal("schema = 2"), Contains("schema"));
    CHECK_THAT(refusal("schema = 1\n[[group]]\ngpu = \"T4\""), Contains("operators"));
    CHECK_THAT(refusal("schema = 1\n[[group]]\ngpu = \"T4\"\noperators = \"linear\"\nrest = [1.0, 2.0]"),
               Contains("8 numbers a call"));
    CHECK_THAT(refusal("schema = 1\n[[group]]\ngpu = \"T4\"\noperators = \"linear\"\nlaunch = 1000.0"),
               Contains("launch"));
    CHECK_THAT(refusal("schema = 1\n[[group]]\ngpu = \"T4\"\noperators = \"linear\"\nexcept = [\"lineal\"]"),
               Contains("lineal"));
}
