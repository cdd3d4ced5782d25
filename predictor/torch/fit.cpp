// SPDX-License-Identifier: GPL-2.0-or-later
// Training of one network: AdamW with one cycle of the learning rate.
#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "predictor/torch/network.h"

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
    p.log_update = at::zeros({options.optimizer_slots});
    p.slowness_min = at::full({1}, net.slowness_min);
    return p;
}

class AdamW {
public:
    explicit AdamW(NetParameters& parameters) {
        parameters.each([&](const char* name, at::Tensor& tensor, bool trained) {
            if (!trained) return;
            tensor.set_requires_grad(true);
            // Constants and biases find their own size; weights and the embedding are kept small.
            const bool decays = std::string_view(name).starts_with("weight") || std::string_view(name) == "embedding";
            states_.push_back({tensor, at::zeros_like(tensor), at::zeros_like(tensor), decays ? 0.01 : 0.0});
        });
    }
    void step(double rate) {
        const at::NoGradGuard no_grad;
        ++steps_;
        const double first = 1.0 - std::pow(beta1, steps_), second = 1.0 - std::pow(beta2, steps_);
        for (State& s : states_) {
            const at::Tensor& gradient = s.parameter.grad();
            if (!gradient.defined()) continue;
            s.mean.mul_(beta1).add_(gradient, 1.0 - beta1);
            s.square.mul_(beta2).addcmul_(gradient, gradient, 1.0 - beta2);
            if (s.decay > 0.0) s.parameter.mul_(1.0 - rate * s.decay);
            s.parameter.addcdiv_(s.mean, (s.square / second).sqrt_().add_(1e-8), -rate / first);
            gradient.zero_();
        }
    }

private:
    static constexpr double beta1 = 0.9, beta2 = 0.98;
    struct State {
        at::Tensor parameter, mean, square;
        double decay;
    };
    std::vector<State> states_;
    int steps_ = 0;
};

// Up to the top in the first fifth, down by a half cosine to nothing.
double one_cycle(double top, double done) {
    if (done < 0.2) return top * (0.05 + 0.95 * done / 0.2);
    return top * 0.5 * (1.0 + std::cos(std::numbers::pi * (done - 0.2) / 0.8)) + 1e-3 * top;
}

// Absolute error of log time, quadratic inside 0.05; beside it, with little weight, the Laplace likelihood that teaches
// the scale what the error was, and a pull of both slownesses to usual ones. Where the launch hides a kernel, or one
// bound the other, rows say nothing of them, and a forecast of kernels alone would hang on the start's random numbers.
at::Tensor loss_of(const Prediction& p, const at::Tensor& log_time, const at::Tensor& weight) {
    constexpr double knee = 0.05, usual_slowness = 0.4, pull = 0.005;
    const at::Tensor error = (p.log_time - log_time).abs();
    const at::Tensor robust = at::where(error < knee, error.square() / (2.0 * knee), error - knee / 2.0);
    const at::Tensor scale = error.detach() * (-p.log_scale).exp() + p.log_scale;
    const at::Tensor unusual = (p.compute_slowness - usual_slowness).abs() + (p.memory_slowness - usual_slowness).abs();
    return ((robust + 0.02 * scale) * weight + pull * unusual).mean();
}

}  // namespace

NetParameters fit(const dlcast_torch_table& table, const dlcast_torch_fit_options& options,
                  const dlcast_torch_net_options& net, std::uint64_t seed,
                  const std::function<void(double)>& progress) {
    at::Generator random = at::detail::createCPUGenerator(seed);
    const Rows rows = rows_of(table);
    NetParameters p = initial(table, rows, options, net, random);
    if (table.rows == 0) return p;
    const at::Tensor standardised = standardise(p, rows.features);
    const at::Tensor log_time = at::from_blob(const_cast<float*>(table.log_time), {table.rows}, at::kFloat);
    const at::Tensor weight = at::from_blob(const_cast<float*>(table.weight), {table.rows}, at::kFloat);
    const at::Tensor noise = at::from_blob(const_cast<float*>(net.noise), {table.columns}, at::kFloat) * p.inverse_sd;

    AdamW optimizer(p);
    const std::int64_t batches = (table.rows + options.batch - 1) / options.batch;
    const double steps = static_cast<double>(batches * net.epochs);
    double step = 0;
    for (int epoch = 0; epoch < net.epochs; ++epoch) {
        const at::Tensor order = at::randperm(table.rows, random, at::kLong);
        for (std::int64_t b = 0; b < batches; ++b, ++step) {
            const std::int64_t start = b * options.batch,
                               size = std::min<std::int64_t>(options.batch, table.rows - start);
            const at::Tensor index = order.narrow(0, start, size);
            const Rows batch = select_physics(rows, index);
            const at::Tensor shaken =
                standardised.index_select(0, index) + at::randn({size, table.columns}, random, at::kFloat) * noise;
            const at::Tensor kept = at::rand({size, 1}, random, at::kFloat).ge(options.group_dropout).to(at::kFloat);
            const Prediction prediction = predict(p, batch, shaken, known_groups(batch) * kept);
            loss_of(prediction, log_time.index_select(0, index), weight.index_select(0, index)).backward();
            optimizer.step(one_cycle(options.learning_rate, step / steps));
        }
        progress((epoch + 1.0) / net.epochs);
    }
    p.each([](const char*, at::Tensor& tensor, bool) { tensor = tensor.detach(); });
    return p;
}

}  // namespace dlcast
