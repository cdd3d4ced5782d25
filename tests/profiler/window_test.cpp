// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/window.h"

#include <catch2/catch.hpp>

using namespace dlcast;

// ResNet's stem: (224 + 2 x 3 - 7) / 2 + 1 = 112; its pooling: (112 + 2 x 1 - 3) / 2 + 1 = 56.
TEST_CASE("padding follows from the sizes before and after", "[profiler]") {
    CHECK(padding_for(224, 112, 7, 2) == 3);
    CHECK(padding_for(112, 56, 3, 2) == 1);
    CHECK(padding_for(28, 28, 1, 1) == 0);
    CHECK(padding_for(8, 20, 3, 1) == 7);
    CHECK(padding_for(8, 3, 3, 1) == -1);
}

TEST_CASE("a pooling's output has sides like its input", "[profiler]") {
    Operator op;
    op.kind = OperatorKind::pooling;
    op.in_h = 112;
    op.in_w = 224;
    op.kernel_h = op.kernel_w = 3;
    op.stride = 2;
    op.cols = 56 * 112;
    const auto window = pooling_window(op);
    REQUIRE(window);
    CHECK(window->out_h == 56);
    CHECK(window->out_w == 112);
    CHECK(window->pad_h == 1);
    op.cols = 1;  // over the whole image
    CHECK(pooling_window(op)->kernel_w == 224);
    op.cols = 5;
    CHECK_FALSE(pooling_window(op));
}
