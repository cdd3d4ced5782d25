// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/timing/operator.h"

#include <catch2/catch.hpp>

using namespace dlcast;

// 2 x 32 x 4096 x 1000 = 262,144,000; (32 x 4096 + 4096 x 1000 + 32 x 1000) x 4 = 17,036,288.
TEST_CASE("a linear product costs 2mkn and moves three matrices", "[operator]") {
    Operator op;
    op.kind = OperatorKind::linear;
    op.m = 32;
    op.k = 4096;
    op.n = 1000;
    CHECK(flops(op) == 262'144'000.0);
    CHECK(bytes(op) == 17'036'288.0);
    op.precision = Precision::bf16;
    CHECK(bytes(op) == 17'036'288.0 / 2);
}

// 2 x 1 x 224 x 224 x 3 x 3 x 3 x 64 = 173,408,256 (conv1_1 of VGG-16);
// (3 x 224^2 + 3 x 3 x 3 x 64 + 64 x 224^2) x 4 = (150,528 + 1,728 + 3,211,264) x 4 = 13,454,080.
TEST_CASE("a convolution costs the direct algorithm", "[operator]") {
    Operator op;
    op.kind = OperatorKind::conv2d;
    op.in_ch = 3;
    op.out_ch = 64;
    op.in_h = op.in_w = op.out_h = op.out_w = 224;
    op.kernel_h = op.kernel_w = 3;
    CHECK(flops(op) == 173'408'256.0);
    CHECK(bytes(op) == 13'454'080.0);
    op.in_ch = op.out_ch = op.groups = 64;  // depthwise: 2 x 224 x 224 x 9 x 64
    CHECK(flops(op) == 57'802'752.0);
}

TEST_CASE("elementwise functions of two tensors move three, of a scalar two", "[operator]") {
    Operator op;
    op.rows = 10;
    op.cols = 10;
    op.function = Function::add;
    CHECK(bytes(op) == 1200.0);
    op.function = Function::mul_scalar;
    CHECK(bytes(op) == 800.0);
    op.function = Function::gelu;
    CHECK(bytes(op) == 800.0);
    op.phase = Phase::backward;  // gradient, saved input, result
    CHECK(bytes(op) == 1200.0);
}

TEST_CASE("an update moves the bytes of its optimizer for each parameter", "[operator]") {
    Operator op;
    op.kind = OperatorKind::optimizer;
    op.rows = 1;
    op.cols = 1000;
    const auto [optimizer, bytes_each] = GENERATE(table<Optimizer, double>(
        {{Optimizer::sgd, 16}, {Optimizer::momentum, 24}, {Optimizer::adamw, 32}, {Optimizer::lamb, 56}}));
    op.optimizer = optimizer;
    CHECK(bytes(op) == 1000 * bytes_each);
}
