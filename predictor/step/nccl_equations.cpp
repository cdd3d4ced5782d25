// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/nccl_equations.h"

#include <algorithm>
#include <cmath>

namespace dlcast {

NormalEquations::NormalEquations(std::size_t unknowns) : n_(unknowns), a_(unknowns * unknowns), b_(unknowns) {}

void NormalEquations::add(const std::vector<std::pair<std::size_t, double>>& slope, double residual, double weight) {
    for (std::size_t i = 0; i < slope.size(); ++i) {
        const auto [row, s] = slope[i];
        b_[row] += weight * residual * s;
        for (std::size_t j = 0; j <= i; ++j) a_[row * n_ + slope[j].first] += weight * s * slope[j].second;
    }
}

std::vector<double> NormalEquations::solve(double damping) const {
    std::vector<double> l = a_, x(n_);
    for (std::size_t i = 0; i < n_; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            double sum = a_[i * n_ + j];
            if (i == j) sum = sum > 0 ? sum * (1 + damping) : 1;
            for (std::size_t k = 0; k < j; ++k) sum -= l[i * n_ + k] * l[j * n_ + k];
            l[i * n_ + j] = i == j ? std::sqrt(std::max(sum, 1e-30)) : sum / l[j * n_ + j];
        }
    }
    for (std::size_t i = 0; i < n_; ++i) {
        double sum = -b_[i];
        for (std::size_t k = 0; k < i; ++k) sum -= l[i * n_ + k] * x[k];
        x[i] = sum / l[i * n_ + i];
    }
    for (std::size_t i = n_; i-- > 0;) {
        for (std::size_t k = i + 1; k < n_; ++k) x[i] -= l[k * n_ + i] * x[k];
        x[i] /= l[i * n_ + i];
    }
    return x;
}

}  // namespace dlcast
