// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/torch/dense_layer.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using namespace dlcast;

namespace {

struct Layer {
    static constexpr int rows = 2 * block_rows, in = 7, panels = 2, out = panels * lanes;
    std::vector<float> x, weight, bias;
};

Layer random_layer() {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    Layer layer;
    const auto fill = [&](std::vector<float>& to, int size) {
        for (int i = 0; i < size; ++i) to.push_back(normal(random));
    };
    fill(layer.x, Layer::rows * Layer::in);
    fill(layer.weight, Layer::in * Layer::out);
    fill(layer.bias, Layer::out);
    layer.x[0] = 40.0f;  // far out on both sides, where the exponential is cut off
    layer.x[Layer::in] = -40.0f;
    return layer;
}

// The formula as it stands, in double.
double expected(const Layer& layer, int row, int out, bool activate) {
    double sum = layer.bias[static_cast<std::size_t>(out)];
    for (int i = 0; i < Layer::in; ++i) {
        const int at = (out / lanes * Layer::in + i) * lanes + out % lanes;
        sum += static_cast<double>(layer.x[static_cast<std::size_t>(row * Layer::in + i)]) *
               layer.weight[static_cast<std::size_t>(at)];
    }
    return activate ? sum / (1.0 + std::exp(-sum)) : sum;
}

}  // namespace

TEST_CASE("a dense layer is the same on vectors of every width that the processor has", "[torch]") {
    const Layer layer = random_layer();
    const bool activate = GENERATE(false, true);
    const auto kernels = dense_layer_kernels();
    REQUIRE_FALSE(kernels.empty());
    for (const auto kernel : kernels) {
        std::vector<float> y(static_cast<std::size_t>(Layer::rows) * Layer::out);
        kernel(layer.x.data(), Layer::rows, Layer::in, Layer::in, layer.weight.data(), layer.bias.data(), Layer::panels,
               activate, y.data());
        for (int row = 0; row < Layer::rows; ++row)
            for (int out = 0; out < Layer::out; ++out)
                // Eight roundings of sums up to 100, and an exponential to 2e-7.
                CHECK(y[static_cast<std::size_t>(row * Layer::out + out)] ==
                      Approx(expected(layer, row, out, activate)).epsilon(1e-6).margin(5e-5));
    }
}
