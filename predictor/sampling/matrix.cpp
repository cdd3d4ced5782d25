// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/sampling/matrix.h"

#include <cmath>

namespace dlcast {

double dot(const double* a, const double* b, std::size_t n) {
    // Four sums, so that the additions need not wait for one another.
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        s0 += a[i] * b[i];
        s1 += a[i + 1] * b[i + 1];
        s2 += a[i + 2] * b[i + 2];
        s3 += a[i + 3] * b[i + 3];
    }
    for (; i < n; ++i) s0 += a[i] * b[i];
    return (s0 + s1) + (s2 + s3);
}

bool cholesky(Matrix& a) {
    for (std::size_t i = 0; i < a.rows; ++i) {
        for (std::size_t j = 0; j < i; ++j) a(i, j) = (a(i, j) - dot(a.row(i), a.row(j), j)) / a(j, j);
        const double pivot = a(i, i) - dot(a.row(i), a.row(i), i);
        if (!(pivot > 0.0) || !std::isfinite(pivot)) return false;
        a(i, i) = std::sqrt(pivot);
    }
    return true;
}

std::vector<double> cholesky_solve(const Matrix& l, std::vector<double> b) {
    const std::size_t n = l.rows;
    for (std::size_t i = 0; i < n; ++i) b[i] = (b[i] - dot(l.row(i), b.data(), i)) / l(i, i);
    for (std::size_t i = n; i-- > 0;) {
        b[i] /= l(i, i);
        for (std::size_t j = 0; j < i; ++j) b[j] -= l(i, j) * b[i];
    }
    return b;
}

double cholesky_log_determinant(const Matrix& l) {
    double sum = 0.0;
    for (std::size_t i = 0; i < l.rows; ++i) sum += std::log(l(i, i));
    return 2.0 * sum;
}

std::vector<double> ridge_regression(const Matrix& x, const std::vector<double>& y, double ridge) {
    Matrix normal(x.cols, x.cols);
    std::vector<double> right(x.cols, 0.0);
    for (std::size_t i = 0; i < x.rows; ++i)
        for (std::size_t a = 0; a < x.cols; ++a) {
            right[a] += x(i, a) * y[i];
            for (std::size_t b = 0; b <= a; ++b) normal(a, b) += x(i, a) * x(i, b);
        }
    for (std::size_t a = 0; a < x.cols; ++a) normal(a, a) += ridge;
    cholesky(normal);  // positive definite by the ridge
    return cholesky_solve(normal, std::move(right));
}

}  // namespace dlcast
