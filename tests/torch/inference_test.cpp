// SPDX-License-Identifier: GPL-2.0-or-later
// The network over plain arrays against the same network in tensors.
#include "predictor/torch/inference.h"

#include <ATen/CPUGeneratorImpl.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

using namespace dlcast;

namespace {

constexpr int columns = 5, groups = 3, launches = 4, optimizers = 2;

// Widths that fill no whole panel, and inputs beyond the range that the features had in training.
NetParameters random_network(at::Generator& random) {
    NetParameters p;
    p.mean = at::randn({columns}, random);
    p.inverse_sd = at::rand({columns}, random) + 0.5;
    p.low = p.mean - 1.5;
    p.high = p.mean + 1.5;
    std::int64_t in = columns + NetParameters::embedding_width;
    for (std::size_t i = 0; i < NetParameters::layers; ++i) {
        const std::int64_t out = i + 1 == NetParameters::layers ? NetParameters::outputs : 20 + static_cast<int>(i);
        p.weight[i] = at::randn({out, in}, random) * 0.5;
        p.bias[i] = at::randn({out}, random);
        in = out;
    }
    p.embedding = at::randn({groups, NetParameters::embedding_width}, random);
    p.offset = at::randn({groups, 3}, random) * 0.1;
    p.log_launch = at::randn({launches}, random) - 10.0;
    p.group_launch = at::randn({groups, launches}, random) * 0.1;
    p.log_update = at::randn({optimizers}, random);
    p.slowness_min = at::full({1}, -0.7);
    p.check();
    return p;
}

}  // namespace

TEST_CASE("plain arrays and tensors compute the same times and scales", "[torch]") {
    at::Generator random = at::detail::createCPUGenerator(1);
    const at::NoGradGuard no_grad;
    const NetParameters net = random_network(random);
    const std::int64_t rows = GENERATE(1, 8, 77);  // less than a block, one, and more than are computed at once
    const at::Tensor features = at::randn({rows, columns}, random) * 2.0;
    at::Tensor physics = at::randn({rows, 6}, random);
    physics.slice(1, 0, 2) -= 8.0;                                 // log seconds
    physics.select(1, 3).copy_(at::rand({rows}, random).gt(0.5));  // adds_launch
    physics.select(1, 4).copy_(at::rand({rows}, random) * 1e-3);   // update_s
    physics.select(1, 5).copy_(at::rand({rows}, random).gt(0.5));  // host_launch
    const at::Tensor launch = at::randint(launches, {rows}, random, at::kInt);
    const at::Tensor optimizer = at::randint(optimizers, {rows}, random, at::kInt);
    const at::Tensor group = at::randint(-1, groups, {rows}, random, at::kInt);
    std::vector<float> log_time(static_cast<std::size_t>(rows)), log_scale(static_cast<std::size_t>(rows));
    const dlcast_torch_table table{rows,
                                   columns,
                                   features.data_ptr<float>(),
                                   physics.data_ptr<float>(),
                                   launch.data_ptr<std::int32_t>(),
                                   optimizer.data_ptr<std::int32_t>(),
                                   group.data_ptr<std::int32_t>(),
                                   nullptr,
                                   nullptr,
                                   log_time.data(),
                                   log_scale.data()};
    PlainNet(net).add_predictions(table);
    const Rows view = rows_of(table);
    const Prediction expected = predict(net, view, standardise(net, view.features), known_groups(view));
    for (std::int64_t i = 0; i < rows; ++i) {
        CHECK(log_time[static_cast<std::size_t>(i)] == Approx(expected.log_time[i].item<float>()).margin(1e-4));
        CHECK(log_scale[static_cast<std::size_t>(i)] == Approx(expected.log_scale[i].item<float>()).margin(1e-4));
    }
}

TEST_CASE("half of a host's launch adds to a call, the rest passes beside the kernel", "[torch]") {
    const at::NoGradGuard no_grad;
    at::Generator random = at::detail::createCPUGenerator(1);
    NetParameters p = random_network(random);
    for (at::Tensor& weight : p.weight) weight.zero_();
    for (at::Tensor& bias : p.bias) bias.zero_();
    p.slowness_min.zero_();
    p.log_launch.fill_(std::log(10e-6));
    // No arithmetic; traffic of 2.5 us, which outputs of 0 slow down by e^softplus(0) = 2.
    const float physics_of_call[6] = {-60.0f, std::log(2.5e-6f), 0.0f, 0.0f, 0.0f, 1.0f};
    const float physics_of_kernel[6] = {-60.0f, std::log(2.5e-6f), 0.0f, 0.0f, 0.0f, 0.0f};
    const std::vector<float> features(columns, 0.0f);
    const std::int32_t launch = 0, optimizer = 0, group = -1;
    // 5 us before; then 5 us of launch beside 5 us of kernel: 5 x 2^(1/6) = 5.612. Of a kernel, 4 us beside 5 us:
    // 5 x (1 + 0.8^6)^(1/6) = 5.198.
    for (const auto& [physics, expected_s] : {std::pair{physics_of_call, 10.612e-6}, {physics_of_kernel, 5.198e-6}}) {
        float log_time = 0.0f, log_scale = 0.0f;
        const dlcast_torch_table table{1,      columns, features.data(), physics,   &launch,   &optimizer,
                                       &group, nullptr, nullptr,         &log_time, &log_scale};
        PlainNet(p).add_predictions(table);
        CHECK(std::exp(log_time) == Approx(expected_s).epsilon(1e-3));
    }
}

TEST_CASE("an index beyond the network's constants is refused", "[torch]") {
    at::Generator random = at::detail::createCPUGenerator(1);
    const PlainNet net(random_network(random));
    const std::vector<float> features(columns, 0.0f), physics(6, 0.0f);
    float log_time = 0.0f, log_scale = 0.0f;
    std::int32_t launch = 0, optimizer = 0, group = 0;
    const dlcast_torch_table table{1,      columns, features.data(), physics.data(), &launch,   &optimizer,
                                   &group, nullptr, nullptr,         &log_time,      &log_scale};
    CHECK_NOTHROW(net.add_predictions(table));
    SECTION("launch") { launch = launches; }
    SECTION("optimizer") { optimizer = -1; }
    SECTION("group") { group = groups; }
    CHECK_THROWS_AS(net.add_predictions(table), c10::Error);
}
