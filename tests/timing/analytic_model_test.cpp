// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>
#include <cmath>

#include "predictor/timing/layer_time_model.h"
#include "predictor/timing/physics.h"
#include "tests/timing/devices.h"
#include "tests/timing/operators.h"

using namespace dlcast;
using namespace dlcast::test;
using Catch::Matchers::WithinRel;

namespace {

double analytic_s(const Operator& op, const Device& device) {
    const OperatorQuery query{&op, &device};
    const auto times = make_analytic_model()->times({&query, 1});
    REQUIRE(times);
    return times->front().median_s;
}

}  // namespace

TEST_CASE("a large product takes its arithmetic over a typical efficiency", "[analytic]") {
    // 2 x 8192^3 operations at 0.72 x 14.13 TFLOPS: 108 ms; traffic and launch are under 1 % of it.
    CHECK_THAT(analytic_s(linear(8192, 8192, 8192), v100()), WithinRel(1.0995e12 / (0.72 * 14.13e12), 0.01));
}

TEST_CASE("a large copy takes its traffic over a typical fraction of the bandwidth", "[analytic]") {
    // 3 accesses x 4 bytes x 2^28 elements at 0.78 x 900 GB/s: 4.6 ms.
    CHECK_THAT(analytic_s(elementwise(Function::add, 1 << 14, 1 << 14), v100()),
               WithinRel(3.2212e9 / (0.78 * 900e9), 0.01));
}

TEST_CASE("nothing is faster than a launch", "[analytic]") {
    CHECK(analytic_s(elementwise(Function::relu, 1, 1), h100()) >= 4e-6);
}

TEST_CASE("every operator kind, phase and precision has a positive, finite time", "[analytic]") {
    Operator op = conv2d(4, 8, 8, 16, 3);
    op.m = op.k = op.n = 16;
    op.rows = 64;
    op.cols = 32;
    op.vocab = 100;
    op.optimizer = Optimizer::adam;
    const auto device = GENERATE(v100(), t4(), h100(), mi210(), p100());
    const auto precision =
        GENERATE(Precision::fp32, Precision::tf32, Precision::amp, Precision::fp16, Precision::bf16, Precision::fp8);
    for (int kind = 0; kind <= static_cast<int>(OperatorKind::optimizer); ++kind) {
        for (int phase = 0; phase <= static_cast<int>(Phase::train_step); ++phase) {
            op.kind = static_cast<OperatorKind>(kind);
            op.phase = static_cast<Phase>(phase);
            op.precision = precision;
            const double t = analytic_s(op, device);
            CHECK(std::isfinite(t));
            CHECK(t > 0.0);
        }
    }
}

TEST_CASE("a device without figures is refused by name", "[analytic]") {
    Device empty;
    empty.name = "mystery";
    const Operator op = linear(8, 8, 8);
    const OperatorQuery query{&op, &empty};
    const auto times = make_analytic_model()->times({&query, 1});
    REQUIRE_FALSE(times);
    CHECK(times.error().message.find("mystery") != std::string::npos);
}
