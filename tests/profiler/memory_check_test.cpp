// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/memory_check.h"

#include <catch2/catch.hpp>

using namespace dlcast;
using Catch::Matchers::Contains;

namespace {

constexpr double free_bytes = 10.0 * (1 << 30);  // nine of these ten GiB may be taken

Operator op_of(OperatorKind kind) {
    Operator op;
    op.kind = kind;
    return op;
}

}  // namespace

// 2^30 rows of 1024 values, 4 bytes each, are 4096 GiB, three times.
TEST_CASE("the table of an embedding needs room, few rows as a call may read", "[profiler]") {
    Operator op = op_of(OperatorKind::embedding);
    op.rows = 8;
    op.cols = 1024;
    op.vocab = 1 << 30;
    const auto room = check_memory(op, free_bytes, true);
    REQUIRE_FALSE(room);
    CHECK_THAT(room.error().message, Contains("need about 12288.0 GiB, 10.0 GiB are free"));
    op.vocab = 1000;
    CHECK(check_memory(op, free_bytes, true));
}

// 16 heads of 2^16 queries and keys: two arrays of scores are 2 x 4 x 16 x 2^32 bytes = 512 GiB.
TEST_CASE("attention needs room for its scores where it is not fused", "[profiler]") {
    Operator op = op_of(OperatorKind::attention);
    op.batch = 16;
    op.m = op.n = 1 << 16;
    op.k = 64;
    CHECK(check_memory(op, free_bytes, true));
    const auto room = check_memory(op, free_bytes, false);
    REQUIRE_FALSE(room);
    CHECK_THAT(room.error().message,
               Contains("need about 1539.0 GiB"));  // 3 x (512 + 1): queries, keys, values, result
}

// Adam: weight, gradient and two states of 4 bytes, made up twice: 32 bytes a parameter.
TEST_CASE("an update needs room for its weights, gradients and states", "[profiler]") {
    Operator op = op_of(OperatorKind::optimizer);
    op.phase = Phase::update;
    op.optimizer = Optimizer::adam;
    op.rows = 1 << 28;  // 8 GiB
    op.cols = 1;
    CHECK(check_memory(op, free_bytes, true));
    op.rows = 1 << 29;
    const auto room = check_memory(op, free_bytes, true);
    REQUIRE_FALSE(room);
    CHECK_THAT(room.error().message, Contains("need about 16.0 GiB") && Contains("smaller model"));
}
