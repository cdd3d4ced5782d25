// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/least_certain.h"

#include <catch2/catch.hpp>

using namespace dlcast;
using Catch::Matchers::WithinRel;

namespace {

LayerTiming layer(const std::string& name, const std::string& kind, double seconds, double log_sd, Doubts doubts = {}) {
    LayerTiming out;
    out.name = name;
    out.kind = kind;
    out.forward_s = seconds / 4;
    out.backward_s = 3 * seconds / 4;
    out.log_sd = log_sd;
    out.doubts = doubts;
    return out;
}

}  // namespace

TEST_CASE("the layers that carry most of the spread are named, with the reason", "[predict]") {
    // Spreads: conv 2 x 10 x 0.1 + 20 x 0.1 = 4, attention 4 x 1.0 = 4 less a bit, norm 0.1.
    const std::vector<LayerTiming> layers{
        layer("a", "conv2d", 10, 0.1), layer("b", "conv2d", 10, 0.1), layer("c", "conv2d", 20, 0.1),
        layer("d", "attention", 3.9, 1.0, {.analytic = true}), layer("e", "batch_norm", 1, 0.1)};
    const auto out = least_certain_layers(layers);
    REQUIRE(out.size() == 2);  // 0.1 of 8 is under 5 %
    CHECK(out[0].kind == "conv2d");
    CHECK(out[0].count == 3);
    CHECK(out[0].name == "c");
    CHECK_THAT(out[0].share_pct, WithinRel(50.0, 1e-9));  // 4 of 4 + 3.9 + 0.1
    CHECK(out[0].why.empty());
    CHECK(out[1].kind == "attention");
    REQUIRE(out[1].why.size() == 1);
    CHECK(out[1].why.front().find("typical efficiencies") != std::string::npos);
    CHECK(to_text(out[0]).find("conv2d layers (50 % of the layers' spread; c +-11 %)") == 0);  // exp(0.1) = 1.105
    // exp(1) = 2.718: as a factor, since nothing takes 172 % less time.
    CHECK(to_text(out[1]).find("attention layers (49 % of the layers' spread; d /2.7 to x2.7): ") == 0);
}

TEST_CASE("layers of one kind stand apart where their reasons differ", "[predict]") {
    const auto out = least_certain_layers(
        {layer("near", "linear", 1, 0.1), layer("far", "linear", 1, 0.3, {.unseen_gpu = true, .far_from_data = true})});
    REQUIRE(out.size() == 2);
    CHECK(out[0].name == "far");
    CHECK(out[0].why.size() == 2);
    CHECK(to_value(out).as_array().front().find("why")->as_array().size() == 2);
    CHECK(least_certain_layers({}).empty());
    const auto measured = least_certain_layers({layer("other", "softmax", 1, 0.1, {.unseen_calls = true})});
    CHECK(measured.front().why ==
          std::vector<std::string>{
              "other calls or whole steps were measured on this device, calls of this kind were not, or all were left "
              "out when the weights were refined: its data sheet stands for them"});
    const auto left = least_certain_layers({layer("other", "softmax", 1, 0.1, {.left_calls = true})});
    REQUIRE(left.front().why.size() == 1);
    CHECK(left.front().why.front().find("calls of this kind were measured on this device, and left out") == 0);
}
