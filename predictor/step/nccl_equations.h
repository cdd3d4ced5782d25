// SPDX-License-Identifier: GPL-2.0-or-later
// The normal equations of a weighted least-squares step, from sparse rows.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace dlcast {

/// Collects A = sum w s s^T and b = sum w r s over rows with slopes s (unknown, value), residual r and weight w.
class NormalEquations {
public:
    explicit NormalEquations(std::size_t unknowns);
    void add(const std::vector<std::pair<std::size_t, double>>& slope, double residual, double weight);
    /// The step x of (A + damping diag A) x = -b, by Cholesky factors; unknowns that no row holds stay.
    std::vector<double> solve(double damping) const;

private:
    std::size_t n_;
    std::vector<double> a_, b_;  // a_: lower triangle in n x n, row by row
};

}  // namespace dlcast
