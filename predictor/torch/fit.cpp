// SPDX-License-Identifier: GPL-2.0-or-later
// Training of one network, with one cycle of the learning rate.
#include "predictor/torch/fit.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "predictor/torch/optimizer.h"

namespace dlcast {
namespace {

// Each launch constant of a host starts at a low quantile of the times it is a floor under (or a part of).
at::Tensor initial_launch(const dlcast_torch_table& table, int slots) {
    std::vector<std::vector<float>> times(static_cast<std::size_t>(slots));
    for (std::int64_t i = 0; i < table.rows; ++i)
        times[static_cast<std::size_t>(table.launch[i])].push_back(table.log_time[i]);
    at::Tensor out = at::full({slots}, std::log(5e-6));
    for (int slot = 0; slot < slots; ++slot) {
        std::vector<float>& of_slot = times[static_cast<std::size_t>(slot)];
        if (of_slot.empty()) continue;
        const auto low = of_slot.begin() + static_cast<std::ptrdiff_t>(of_slot.size() / 50);
        std::nth_element(of_slot.begin(), low, of_slot.end());
        out[slot] = *low - 0.2f;
    }
    return out;
}

NetParameters initial(const dlcast_torch_table& table, const Rows& rows, const dlcast_torch_fit_options& options,
                      const dlcast_torch_net_options& net, at::Generator& random) {
    NetParameters p;
    const at::Tensor features = table.rows > 0 ? rows.features : at::zeros({1, table.columns});
    p.mean = features.mean(0);
    p.low = std::get<0>(features.min(0));
    p.high = std::get<0>(features.max(0));
    // A column that never varies (one GPU vendor, say) must not explode when it does: its spread counts as 1.
    const at::Tensor sd = features.std(0, false);
    p.inverse_sd = at::where(sd > 1e-3, sd.reciprocal(), at::ones_like(sd));
    std::int64_t in = table.columns + NetParameters::embedding_width;
    for (std::size_t i = 0; i < NetParameters::layers; ++i) {
        const bool last = i + 1 == NetParameters::layers;
        const std::int64_t out = last ? NetParameters::outputs : net.width;
        p.weight[i] =
            at::randn({out, in}, random, at::kFloat) * std::sqrt((last ? 0.2 : 2.0) / static_cast<double>(in));
        p.bias[i] = at::zeros({out});
        in = out;
    }
    p.bias.back()[2] = -2.5;  // a spread of 8 %
    const std::int64_t groups = std::max(net.groups, 1);
    p.embedding = at::randn({groups, NetParameters::embedding_width}, random, at::kFloat) * 0.1;
    p.offset = at::zeros({groups, 3});
    p.log_launch = initial_launch(table, options.launch_slots);
    p.group_launch = at::zeros({groups, options.launch_slots});
    p.log_update = at::zeros({options.optimizer_slots});
    p.slowness_min = at::full({1}, net.slowness_min);
    return p;
}

// Up to the top in the first fifth, down by a half cosine to nothing.
double one_cycle(double top, double done) {
    if (done < 0.2) return top * (0.05 + 0.95 * done / 0.2);
    return top * 0.5 * (1.0 + std::cos(std::numbers::pi * (done - 0.2) / 0.8)) + 1e-3 * top;
}

// [figures, columns]: what one standard deviation of a figure does to each column.
at::Tensor disturbance(const dlcast_torch_net_options& net, int columns) {
    at::Tensor out = at::zeros({net.figures, columns});
    for (int column = 0; column < columns; ++column) {
        TORCH_CHECK(net.figure[column] >= 0 && net.figure[column] < net.figures, "a column of an unknown figure");
        out[net.figure[column]][column] = net.noise[column];
    }
    return out;
}

// The robust error of log time; beside it, with little weight, the Laplace likelihood that teaches
// the scale what the error was, and a pull of both slownesses to usual ones. Where the launch hides a kernel, or one
// bound the other, rows say nothing of them, and a forecast of kernels alone would hang on the start's random numbers.
at::Tensor loss_of(const Prediction& p, const at::Tensor& log_time, const at::Tensor& weight) {
    constexpr double usual_slowness = 0.4, pull = 0.005;
    const at::Tensor error = p.log_time - log_time;
    const at::Tensor scale = error.detach().abs() * (-p.log_scale).exp() + p.log_scale;
    const at::Tensor unusual = (p.compute_slowness - usual_slowness).abs() + (p.memory_slowness - usual_slowness).abs();
    return ((robust_error(error) + 0.02 * scale) * weight + pull * unusual).mean();
}

at::Tensor view_of(const float* data, std::int64_t rows) {
    return at::from_blob(const_cast<float*>(data), {rows}, at::kFloat);
}

}  // namespace

at::Tensor robust_error(const at::Tensor& error) {
    constexpr double knee = 0.05;
    const at::Tensor size = error.abs();
    return at::where(size < knee, size.square() / (2.0 * knee), size - knee / 2.0);
}

RowSampler::RowSampler(const NetParameters& net, const dlcast_torch_table& table,
                       const dlcast_torch_fit_options& options, const dlcast_torch_net_options& net_options,
                       at::Generator& random)
    : rows_(rows_of(table)),
      standardised_(standardise(net, rows_.features)),
      log_time_(view_of(table.log_time, table.rows)),
      weight_(view_of(table.weight, table.rows)),
      noise_(disturbance(net_options, table.columns) * net.inverse_sd),
      batch_(options.batch),
      group_dropout_(options.group_dropout),
      random_(random) {}

std::int64_t RowSampler::batches() const { return (log_time_.size(0) + batch_ - 1) / batch_; }

at::Tensor RowSampler::next_loss(const NetParameters& net) {
    const std::int64_t rows = log_time_.size(0);
    if (next_ == 0) order_ = at::randperm(rows, random_, at::kLong);
    const std::int64_t size = std::min(batch_, rows - next_);
    const at::Tensor index = order_.narrow(0, next_, size);
    next_ = next_ + size == rows ? 0 : next_ + size;
    const Rows batch = select_physics(rows_, index);
    const at::Tensor shaken =
        at::addmm(standardised_.index_select(0, index), at::randn({size, noise_.size(0)}, random_, at::kFloat), noise_);
    const at::Tensor kept = at::rand({size, 1}, random_, at::kFloat).ge(group_dropout_).to(at::kFloat);
    return loss_of(predict(net, batch, shaken, known_groups(batch) * kept), log_time_.index_select(0, index),
                   weight_.index_select(0, index));
}

NetParameters fit(const dlcast_torch_table& table, const dlcast_torch_fit_options& options,
                  const dlcast_torch_net_options& net, std::uint64_t seed,
                  const std::function<void(double)>& progress) {
    at::Generator random = at::detail::createCPUGenerator(seed);
    NetParameters p = initial(table, rows_of(table), options, net, random);
    if (table.rows == 0) return p;
    RowSampler sampler(p, table, options, net, random);
    NetOptimizer optimizer(p, net.weight_decay);
    const std::int64_t batches = sampler.batches();
    const double steps = static_cast<double>(batches * net.epochs);
    double step = 0;
    for (int epoch = 0; epoch < net.epochs; ++epoch) {
        for (std::int64_t b = 0; b < batches; ++b, ++step) {
            sampler.next_loss(p).backward();
            optimizer.step(one_cycle(options.learning_rate, step / steps));
        }
        progress((epoch + 1.0) / net.epochs);
    }
    p.each([](const char*, at::Tensor& tensor, bool) { tensor = tensor.detach(); });
    return p;
}

}  // namespace dlcast
