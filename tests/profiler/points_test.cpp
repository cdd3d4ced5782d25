// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/points.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "profiler/profile_options.h"

using namespace dlcast;

namespace {

std::vector<Operator> operators_of(const std::vector<SamplePoint>& points) {
    std::vector<Operator> out;
    for (const SamplePoint& point : points)
        if (const auto* op = std::get_if<Operator>(&point)) out.push_back(*op);
    return out;
}

}  // namespace

TEST_CASE("a model is measured by its distinct operators and its four passes", "[profiler]") {
    const auto models = read_models({.models = {"vgg16"}, .batch_size = 2, .optimizer = "adam"});
    REQUIRE(models);
    const auto points = points_of(*models);
    const auto operators = operators_of(points);
    CHECK(points.size() == operators.size() + 4);
    for (const Operator& op : operators) CHECK(std::count(operators.begin(), operators.end(), op) == 1);
    // VGG-16 has 13 convolutions; conv3_2 and conv3_3, conv4_2 and conv4_3, and the three of block 5 are alike: 9
    // kinds.
    CHECK(std::count_if(operators.begin(), operators.end(), [](const Operator& op) {
              return op.kind == OperatorKind::conv2d && op.phase == Phase::forward;
          }) == 9);
    // The first needs no gradient of its data.
    CHECK(std::count_if(operators.begin(), operators.end(), [](const Operator& op) {
              return op.kind == OperatorKind::conv2d && op.phase == Phase::backward_data;
          }) == 8);
    const auto update = std::find_if(operators.begin(), operators.end(),
                                     [](const Operator& op) { return op.kind == OperatorKind::optimizer; });
    REQUIRE(update != operators.end());
    CHECK(update->rows == 138'357'544);  // Simonyan & Zisserman, arXiv:1409.1556: 138 M
    double convolutions = 0;
    for (const OperatorUse& use : models->front().forward)
        if (use.op.kind == OperatorKind::conv2d) convolutions += use.count;
    CHECK(convolutions == 13);
}

TEST_CASE("layers that two models share are measured once", "[profiler]") {
    const auto one = read_models({.models = {"vgg16"}, .batch_size = 2});
    const auto two = read_models({.models = {"vgg16", "vgg16"}, .batch_size = 2});
    REQUIRE(one);
    REQUIRE(two);
    CHECK(operators_of(points_of(*two)).size() == operators_of(points_of(*one)).size());
}
