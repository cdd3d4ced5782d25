// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/anchor_correction.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace dlcast;
using Catch::Matchers::WithinRel;

namespace {

const AnchorFacts v100{.gpu = "V100", .architecture = "volta", .precision = Precision::amp, .micro_batch = 64};
const AnchorFacts other_v100{
    .gpu = "V100-32GB", .architecture = "volta", .precision = Precision::amp, .micro_batch = 64};
const AnchorFacts a100{.gpu = "A100", .architecture = "ampere", .precision = Precision::amp, .micro_batch = 64};

}  // namespace

TEST_CASE("without measured steps nothing is corrected", "[anchor_correction]") {
    const AnchorCorrection none = anchor_correction(v100, {}, false);
    CHECK(none.factor == 1.0);
    CHECK(none.spread_share == 1.0);
}

TEST_CASE("errors go together the more, the more two steps have in common", "[anchor_correction]") {
    CHECK_THAT(error_correlation(v100, v100, false), WithinRel(0.95, 1e-12));
    CHECK_THAT(error_correlation(v100, other_v100, false), WithinRel(0.9, 1e-12));
    CHECK(error_correlation(v100, a100, false) == 0.50);
    CHECK_THAT(error_correlation(v100, v100, true), WithinRel(0.9, 1e-12));
    CHECK_THAT(error_correlation(v100, other_v100, true), WithinRel(0.7, 1e-12));
    CHECK(error_correlation(v100, a100, true) == 0.20);
    AnchorFacts in_fp32 = other_v100;
    in_fp32.precision = Precision::fp32;
    CHECK(error_correlation(v100, in_fp32, false) == 0.50);
}

// 0.5 exp(-0.1 log 4) = 0.4353 with a fourth of the batch; at eight times the length 0.5 exp(-0.5 log 8) = 0.1768.
TEST_CASE("sizes that differ take from it", "[anchor_correction]") {
    AnchorFacts other = a100;
    other.micro_batch = 16;
    CHECK_THAT(error_correlation(v100, other, false), WithinRel(0.4353, 1e-3));
    other = a100;
    other.tokens = 8;
    CHECK_THAT(error_correlation(v100, other, false), WithinRel(0.1768, 1e-3));
}

TEST_CASE("one measured step gives its correlation's share of its ratio", "[anchor_correction]") {
    const AnchorCorrection one = anchor_correction(v100, {{a100, std::log(4.0)}}, false);
    CHECK_THAT(one.factor, WithinRel(2.0, 1e-12));
    CHECK_THAT(one.spread_share, WithinRel(std::sqrt(0.75), 1e-12));
}

// Two equal ones at correlation 0.5 to the step and 0.95 between them: each weighs 0.5 / 1.95, together 0.5128.
TEST_CASE("two measured steps that say the same count for little more than one", "[anchor_correction]") {
    const AnchorCorrection two = anchor_correction(v100, {{a100, std::log(4.0)}, {a100, std::log(4.0)}}, false);
    CHECK_THAT(std::log(two.factor) / std::log(4.0), WithinRel(2 * 0.5 / 1.95, 1e-12));
    CHECK_THAT(two.spread_share, WithinRel(std::sqrt(1 - 2 * 0.25 / 1.95), 1e-12));
}

// The nearer of two screens the other: with c = (0.95, 0.5) and 0.5 between the two, C^-1 c = (0.9333, 0.0333).
TEST_CASE("a step measured on the GPU itself leaves little to others", "[anchor_correction]") {
    const AnchorCorrection both = anchor_correction(v100, {{v100, std::log(2.0)}, {a100, std::log(8.0)}}, false);
    CHECK_THAT(std::log(both.factor), WithinRel(0.93333 * std::log(2.0) + 0.03333 * std::log(8.0), 1e-4));
    CHECK_THAT(both.spread_share, WithinRel(std::sqrt(1 - 0.93333 * 0.95 - 0.03333 * 0.5), 1e-3));
}

// Two at correlation 0.95, a factor of 4 apart: about their mean +-ln 2, so chi-squared is 2 ln(2)^2 / 0.05 / 0.2^2 =
// 480.5 with one degree of freedom. Their share alone is sqrt(1 - 2 x 0.95^2 / 1.95).
TEST_CASE("measured steps that contradict one another widen the interval", "[anchor_correction]") {
    const std::vector<Anchor> apart{{v100, std::log(2.0)}, {v100, std::log(8.0)}};
    const AnchorCorrection both = anchor_correction(v100, apart, false, 0.2);
    const double alone = std::sqrt(1 - 2 * 0.95 * 0.95 / 1.95);
    CHECK_THAT(both.spread_share, WithinRel(alone * std::sqrt(2 * std::log(2.0) * std::log(2.0) / 0.05) / 0.2, 1e-9));
    CHECK_THAT(both.factor, WithinRel(std::pow(4.0, 2 * 0.95 / 1.95), 1e-9));
    const std::vector<Anchor> alike{{v100, std::log(4.0)}, {v100, std::log(4.0)}};
    CHECK_THAT(anchor_correction(v100, alike, false, 0.2).spread_share, WithinRel(alone, 1e-9));
}
