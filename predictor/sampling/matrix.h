// SPDX-License-Identifier: GPL-2.0-or-later
// Dense linear algebra for a few hundred rows: what a Gaussian process needs, nothing more.
#pragma once

#include <cstddef>
#include <vector>

namespace dlcast {

/// Row-major.
struct Matrix {
    Matrix() = default;
    Matrix(std::size_t r, std::size_t c, double fill = 0.0) : rows(r), cols(c), data(r * c, fill) {}
    double& operator()(std::size_t i, std::size_t j) { return data[i * cols + j]; }
    double operator()(std::size_t i, std::size_t j) const { return data[i * cols + j]; }
    const double* row(std::size_t i) const { return data.data() + i * cols; }
    double* row(std::size_t i) { return data.data() + i * cols; }

    std::size_t rows = 0, cols = 0;
    std::vector<double> data;
};

double dot(const double* a, const double* b, std::size_t n);

/// Replaces the lower triangle of a symmetric matrix A by L with A = L L'; false if A is not positive definite.
bool cholesky(Matrix& a);
/// x with L L' x = b.
std::vector<double> cholesky_solve(const Matrix& l, std::vector<double> b);
/// log |L L'|.
double cholesky_log_determinant(const Matrix& l);

/// The w that makes |X w - y|^2 + ridge |w|^2 least; X is rows x columns. `ridge` > 0.
std::vector<double> ridge_regression(const Matrix& x, const std::vector<double>& y, double ridge);

}  // namespace dlcast
