// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/sharding.h"

#include <catch2/catch.hpp>

using namespace dlcast;

namespace {
Operator product(OperatorKind kind, Phase phase, std::int64_t batch, std::int64_t m, std::int64_t k, std::int64_t n) {
    Operator op;
    op.kind = kind;
    op.phase = phase;
    op.batch = batch;
    op.m = m;
    op.k = k;
    op.n = n;
    return op;
}
Operator rows(OperatorKind kind, Function function, std::int64_t count, std::int64_t cols) {
    Operator op;
    op.kind = kind;
    op.function = function;
    op.rows = count;
    op.cols = cols;
    return op;
}
Layout layout(int tp, int cp = 1, bool sp = false) {
    Layout out;
    out.tp = tp;
    out.cp = cp;
    out.sequence_parallel = sp;
    return out;
}
}  // namespace

TEST_CASE("tensor ranks divide the wider side of a weight", "[sharding]") {
    CHECK(shard(product(OperatorKind::linear, Phase::forward, 1, 512, 1024, 4096), layout(4)).n == 1024);
    CHECK(shard(product(OperatorKind::linear, Phase::forward, 1, 512, 4096, 1024), layout(4)).k == 1024);
    // The gradient of a 1024 x 4096 weight is a 4096 x tokens x 1024 product.
    const Operator gradient =
        shard(product(OperatorKind::linear, Phase::backward_weight, 1, 4096, 512, 1024), layout(4));
    CHECK(gradient.m == 1024);
    CHECK(gradient.k == 512);
}

TEST_CASE("tensor ranks divide heads, and activations only where they are split", "[sharding]") {
    CHECK(shard(product(OperatorKind::bmm, Phase::forward, 64, 128, 64, 128), layout(4)).batch == 16);
    CHECK(shard(product(OperatorKind::attention, Phase::forward, 64, 128, 64, 128), layout(4)).batch == 16);
    CHECK(shard(rows(OperatorKind::softmax, Function::none, 8192, 128), layout(4)).rows == 2048);
    CHECK(shard(rows(OperatorKind::elementwise, Function::gelu, 512, 4096), layout(4)).rows == 128);
    CHECK(shard(rows(OperatorKind::layer_norm, Function::none, 512, 1024), layout(4)).rows == 512);
    CHECK(shard(rows(OperatorKind::layer_norm, Function::none, 512, 1024), layout(4, 1, true)).rows == 128);
}

TEST_CASE("context ranks divide tokens", "[sharding]") {
    CHECK(shard(product(OperatorKind::linear, Phase::forward, 1, 512, 1024, 4096), layout(1, 2)).m == 256);
    CHECK(shard(product(OperatorKind::linear, Phase::backward_weight, 1, 4096, 512, 1024), layout(1, 2)).k == 256);
    CHECK(shard(rows(OperatorKind::layer_norm, Function::none, 512, 1024), layout(1, 2)).rows == 256);
}

TEST_CASE("one rank changes nothing, and shares round up", "[sharding]") {
    const Operator op = product(OperatorKind::linear, Phase::forward, 1, 512, 1024, 4096);
    CHECK(shard(op, layout(1)) == op);
    CHECK(shard(op, layout(3)).n == 1366);  // 1365.33
}

TEST_CASE("an update is shared by pipeline stages and by the optimizer's shards", "[sharding]") {
    Layout shared = layout(2);
    shared.pp = 4;
    shared.optimizer_shards = 8;
    Operator update = rows(OperatorKind::optimizer, Function::none, 64'000'000, 1);
    update.phase = Phase::update;
    CHECK(shard_update(update, shared).rows == 1'000'000);
}
