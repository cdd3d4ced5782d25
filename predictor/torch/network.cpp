// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/torch/network.h"

#include <cmath>

namespace dlcast {
namespace {

at::Tensor view_of(const float* data, at::IntArrayRef shape) {
    return at::from_blob(const_cast<float*>(data), shape, at::kFloat);
}
at::Tensor view_of(const std::int32_t* data, std::int64_t rows) {
    return at::from_blob(const_cast<std::int32_t*>(data), {rows}, at::kInt);
}

at::Tensor smooth_maximum(const at::Tensor& log_x, const at::Tensor& log_y, double power) {
    return at::logaddexp(log_x * power, log_y * power) / power;
}

}  // namespace

void NetParameters::each(const std::function<void(const char*, at::Tensor&, bool)>& visit) {
    static constexpr std::array<const char*, layers> weights{"weight0", "weight1", "weight2", "weight3"};
    static constexpr std::array<const char*, layers> biases{"bias0", "bias1", "bias2", "bias3"};
    visit("mean", mean, false);
    visit("inverse_sd", inverse_sd, false);
    visit("low", low, false);
    visit("high", high, false);
    for (std::size_t i = 0; i < layers; ++i) {
        visit(weights[i], weight[i], true);
        visit(biases[i], bias[i], true);
    }
    visit("embedding", embedding, true);
    visit("offset", offset, true);
    visit("log_launch", log_launch, true);
    visit("group_launch", group_launch, true);
    visit("log_update", log_update, true);
    visit("slowness_min", slowness_min, false);
}

void NetParameters::check() const {
    const auto expect = [](const at::Tensor& t, at::IntArrayRef shape, const char* what) {
        TORCH_CHECK(t.defined() && t.scalar_type() == at::kFloat && t.sizes() == shape, what, " has another shape");
    };
    TORCH_CHECK(
        mean.defined() && mean.dim() == 1 && embedding.defined() && embedding.dim() == 2 && embedding.size(0) > 0,
        "tensors are missing");
    TORCH_CHECK(log_launch.defined() && log_launch.dim() == 1 && log_update.defined() && log_update.dim() == 1,
                "launch constants are missing");
    for (const at::Tensor* t : {&mean, &inverse_sd, &low, &high}) expect(*t, mean.sizes(), "the standardisation");
    std::int64_t in = mean.size(0) + embedding_width;
    for (std::size_t i = 0; i < layers; ++i) {
        TORCH_CHECK(weight[i].defined() && weight[i].dim() == 2, "a layer is missing");
        const std::int64_t out = i + 1 == layers ? outputs : weight[i].size(0);
        expect(weight[i], {out, in}, "a layer's weight");
        expect(bias[i], {out}, "a layer's bias");
        in = out;
    }
    expect(embedding, {embedding.size(0), embedding_width}, "embedding");
    expect(offset, {embedding.size(0), 3}, "offset");
    expect(group_launch, {embedding.size(0), log_launch.size(0)}, "group_launch");
    expect(slowness_min, {1}, "slowness_min");
}

Rows rows_of(const dlcast_torch_table& t) {
    return {view_of(t.features, {t.rows, t.columns}), view_of(t.physics, {t.rows, 6}), view_of(t.launch, t.rows),
            view_of(t.optimizer, t.rows), view_of(t.group, t.rows)};
}

Rows select_physics(const Rows& rows, const at::Tensor& index) {
    return {{},
            rows.physics.index_select(0, index),
            rows.launch.index_select(0, index),
            rows.optimizer.index_select(0, index),
            rows.group.index_select(0, index)};
}

at::Tensor standardise(const NetParameters& net, const at::Tensor& features) {
    return (at::maximum(at::minimum(features, net.high), net.low) - net.mean) * net.inverse_sd;
}

at::Tensor known_groups(const Rows& rows) { return rows.group.ge(0).to(at::kFloat).unsqueeze(1); }

Prediction predict(const NetParameters& net, const Rows& rows, const at::Tensor& standardised,
                   const at::Tensor& known) {
    const at::Tensor group = rows.group.clamp_min(0);
    at::Tensor x = at::cat({standardised, net.embedding.index_select(0, group) * known}, 1);
    for (std::size_t i = 0; i + 1 < NetParameters::layers; ++i) {
        x = at::silu(at::addmm(net.bias[i], x, net.weight[i].t()));
    }
    const at::Tensor z = at::addmm(net.bias.back(), x, net.weight.back().t());
    const at::Tensor offset = net.offset.index_select(0, group) * known;

    const auto physics = [&](int column) { return rows.physics.select(1, column); };
    const at::Tensor slow_compute = physics(2) + at::softplus(z.select(1, 0));
    const at::Tensor slow_memory = net.slowness_min + at::softplus(z.select(1, 1));
    const at::Tensor log_compute = physics(0) + slow_compute + offset.select(1, 1);
    const at::Tensor log_memory = physics(1) + slow_memory + offset.select(1, 2);
    const at::Tensor log_main = smooth_maximum(log_compute, log_memory, 3.0);
    const at::Tensor slot = group * static_cast<int>(net.log_launch.size(0)) + rows.launch;
    const at::Tensor host = net.group_launch.view({-1}).index_select(0, slot) * known.squeeze(1) + offset.select(1, 0);
    const at::Tensor host_launch = net.log_launch.index_select(0, rows.launch) + host + at::tanh(z.select(1, 3));
    const at::Tensor log_launch = at::where(physics(5).gt(0.5), host_launch, at::full({1}, std::log(kernel_start_s)));
    const at::Tensor update = net.log_update.index_select(0, rows.optimizer).exp() * physics(4);
    const at::Tensor added = at::log(log_launch.exp() + log_main.exp() + update);
    const at::Tensor before = physics(5) * launch_before;
    const at::Tensor hidden = smooth_maximum(log_launch + at::log(1.0 - before), log_main, 6.0);
    const at::Tensor alone = at::log(before * log_launch.exp() + hidden.exp());
    return {at::where(physics(3).gt(0.5), added, alone), z.select(1, 2).clamp(-6.0, 1.0), slow_compute, slow_memory};
}

}  // namespace dlcast
