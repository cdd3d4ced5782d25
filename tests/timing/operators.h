// SPDX-License-Identifier: GPL-2.0-or-later
// Operators that tests ask about.
#pragma once

#include "predictor/timing/operator.h"

namespace dlcast::test {

inline Operator linear(std::int64_t m, std::int64_t k, std::int64_t n, Precision precision = Precision::fp32) {
    Operator op;
    op.kind = OperatorKind::linear;
    op.precision = precision;
    op.m = m;
    op.k = k;
    op.n = n;
    return op;
}

inline Operator elementwise(Function function, std::int64_t rows, std::int64_t cols) {
    Operator op;
    op.kind = OperatorKind::elementwise;
    op.function = function;
    op.rows = rows;
    op.cols = cols;
    return op;
}

inline Operator row_wise(OperatorKind kind, std::int64_t rows, std::int64_t cols) {
    Operator op;
    op.kind = kind;
    op.rows = rows;
    op.cols = cols;
    return op;
}

/// Square images, "same" padding at stride 1.
inline Operator conv2d(std::int64_t batch, std::int64_t in_ch, std::int64_t out_ch, std::int64_t side,
                       std::int64_t kernel) {
    Operator op;
    op.kind = OperatorKind::conv2d;
    op.batch = batch;
    op.in_ch = in_ch;
    op.out_ch = out_ch;
    op.in_h = op.in_w = op.out_h = op.out_w = side;
    op.kernel_h = op.kernel_w = kernel;
    return op;
}

}  // namespace dlcast::test
