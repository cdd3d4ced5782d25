// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/torch/optimizer.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace dlcast {
namespace {

constexpr double beta1 = 0.9, beta2 = 0.98;
constexpr double orthogonal_momentum = 0.95, orthogonal_rate = 8.0;  // times AdamW's rate

// The nearest matrix with orthonormal rows or columns, to about 20 %, by five Newton-Schulz steps.
at::Tensor orthogonal(const at::Tensor& matrix) {
    const bool tall = matrix.size(0) > matrix.size(1);
    at::Tensor x = tall ? matrix.t() : matrix;
    x = x / (x.norm() + 1e-7);
    for (int i = 0; i < 5; ++i) {
        const at::Tensor square = at::mm(x, x.t());
        const at::Tensor polynomial = at::addmm(square, square, square, -4.7750, 2.0315);
        x = at::addmm(x, polynomial, x, 3.4445, 1.0);
    }
    return tall ? x.t() : x;
}

}  // namespace

NetOptimizer::NetOptimizer(NetParameters& parameters, double weight_decay) : weight_decay_(weight_decay) {
    parameters.each([&](const char* name, at::Tensor& tensor, bool trained) {
        if (!trained) return;
        tensor.set_requires_grad(true);
        const bool hidden = std::string_view(name).starts_with("weight") && tensor.size(0) != NetParameters::outputs;
        // Constants and biases find their own size; the embedding and the last layer are kept small.
        const bool decays = std::string_view(name).starts_with("weight") || std::string_view(name) == "embedding";
        states_.push_back({tensor, at::zeros_like(tensor), at::zeros_like(tensor), hidden, decays ? 0.01 : 0.0});
    });
}

void NetOptimizer::step(double rate) {
    const at::NoGradGuard no_grad;
    ++steps_;
    for (State& s : states_) {
        const at::Tensor& gradient = s.parameter.grad();
        if (!gradient.defined()) continue;
        if (s.hidden)
            orthogonal_step(s, gradient, rate);
        else
            adam_step(s, gradient, rate);
        gradient.zero_();
    }
}

void NetOptimizer::orthogonal_step(State& s, const at::Tensor& gradient, double rate) const {
    s.mean.mul_(orthogonal_momentum).add_(gradient);
    const double shape = static_cast<double>(s.parameter.size(0)) / static_cast<double>(s.parameter.size(1));
    s.parameter.mul_(1.0 - rate * weight_decay_);
    s.parameter.add_(orthogonal(gradient + s.mean * orthogonal_momentum),
                     -rate * orthogonal_rate * std::sqrt(std::max(1.0, shape)));
}

void NetOptimizer::adam_step(State& s, const at::Tensor& gradient, double rate) const {
    s.mean.mul_(beta1).add_(gradient, 1.0 - beta1);
    s.square.mul_(beta2).addcmul_(gradient, gradient, 1.0 - beta2);
    if (s.decay > 0.0) s.parameter.mul_(1.0 - rate * s.decay);
    s.parameter.addcdiv_(s.mean, (s.square / (1.0 - std::pow(beta2, steps_))).sqrt_().add_(1e-8),
                         -rate / (1.0 - std::pow(beta1, steps_)));
}

}  // namespace dlcast
