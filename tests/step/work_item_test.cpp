// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/work_item.h"

#include "tests/step/step_test_support.h"

using namespace dlcast;
using Catch::Matchers::WithinRel;

// One tile of 128 x 128 (attained 0.96) fills one processor; a larger tile would be half padding. Two processors share
// two tiles of 128 x 64 (0.85), better than one busy of two. Sums of 64 are too short to split.
TEST_CASE("tiles fill a device as well as their best shape does", "[work_item]") {
    CHECK_THAT(best_fill(128, 128, 64, 1, 1), WithinRel(0.96, 1e-12));
    CHECK_THAT(best_fill(128, 128, 64, 1, 2), WithinRel(0.85, 1e-12));
    CHECK_THAT(best_fill(128, 128, 4096, 1, 2), WithinRel(0.96, 1e-12));  // split along the sum
    CHECK_THAT(best_fill(256 * 80, 128, 64, 1, 80), WithinRel(1.0, 1e-12));
    CHECK(best_fill(256 * 81, 128, 64, 1, 80) < 0.8);  // one tile too many starts another wave
    CHECK(best_fill(1, 1, 1, 1, 10000) > 0);
}

TEST_CASE("an operator's class, unit and sizes follow from what it is", "[work_item]") {
    const Device device = test::round_device();
    Operator op;
    op.kind = OperatorKind::conv2d;
    op.precision = Precision::amp;
    op.batch = 8;
    op.in_ch = op.out_ch = 64;
    op.in_h = op.in_w = op.out_h = op.out_w = 28;
    op.kernel_h = op.kernel_w = 3;
    const Layer layer = test::square_linear(1);
    WorkItem item = work_item({op, 2.0}, &layer, device);
    CHECK(item.work == WorkClass::conv);
    CHECK(item.unit == ArithmeticUnit::half);
    CHECK(item.winograd);
    CHECK(item.count == 2.0);
    CHECK(item.reduction == 64 * 9);
    CHECK(item.flops == 2.0 * 8 * 28 * 28 * 64 * 64 * 9);
    op.phase = Phase::backward_weight;
    CHECK(work_item({op, 1.0}, &layer, device).reduction == 8 * 28 * 28);
    op.groups = 64;
    item = work_item({op, 1.0}, &layer, device);
    CHECK(item.work == WorkClass::depthwise);
    CHECK(item.unit == ArithmeticUnit::simt);
}

TEST_CASE("tensor ranks divide what acts on attention's scores", "[work_item]") {
    Operator scores;
    scores.kind = OperatorKind::elementwise;
    scores.function = Function::add;
    scores.rows = 1024;
    scores.cols = 128;
    Layout layout;
    layout.tp = 4;
    Layer attention;
    attention.kind = LayerKind::attention;
    const Layer linear = test::square_linear(1);
    CHECK(share_of(scores, &attention, layout).rows == 256);
    CHECK(share_of(scores, &linear, layout).rows == 1024);
}

TEST_CASE("equal items are counted, not listed twice", "[work_item]") {
    std::vector<WorkItem> list;
    WorkItem item;
    item.bytes = 100;
    add_item(list, item);
    item.count = 3;
    add_item(list, item);
    item.bytes = 200;
    add_item(list, item);
    REQUIRE(list.size() == 2);
    CHECK(list[0].count == 4);
}
