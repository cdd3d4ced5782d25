// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/timing/group_residual.h"

#include <algorithm>
#include <cmath>

#include "predictor/timing/operator_slot.h"
#include "predictor/timing/physics.h"

namespace dlcast {
namespace {

// Standard deviations of the logarithm: of what calls of like sizes share, of what the whole group shares, and of a
// single row; and the distance at which calls are no longer alike, in units of point_of. Chosen where each of eleven
// GPUs was left out: what errs by 10 to 20 % does so over more than a decade of sizes.
constexpr double shared_sd = 0.25, level_sd = 0.10, row_sd = 0.10, range = 2.5;

double log_of(double value) { return std::log(std::max(value, 1.0)); }
double log_of(std::int64_t value) { return log_of(static_cast<double>(value)); }

// Three sizes that tell calls of one kind apart beyond their arithmetic and traffic, on scales on which they weigh
// alike.
std::array<double, 3> sizes_of(const Operator& op) {
    if (op.kind == OperatorKind::conv2d)
        return {log_of(op.kernel_h), (log_of(op.in_ch) + log_of(op.out_ch)) / 2.0 / 1.5, log_of(op.stride) / 1.2};
    if (op.kind == OperatorKind::linear || op.kind == OperatorKind::bmm)
        return {log_of(op.m) / 2.0, log_of(op.k) / 2.0, log_of(op.n) / 2.0};
    return {log_of(op.rows) / 2.0, log_of(op.cols) / 2.0, 3.0 * static_cast<double>(operator_slot(op))};
}

// Solves a x = b in place by Cholesky's factors; `a` symmetric, positive definite, row by row.
void solve(std::vector<double>& a, std::vector<double>& b) {
    const std::size_t n = b.size();
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j <= i; ++j) {
            double sum = a[i * n + j];
            for (std::size_t k = 0; k < j; ++k) sum -= a[i * n + k] * a[j * n + k];
            a[i * n + j] = i == j ? std::sqrt(sum) : sum / a[j * n + j];
        }
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < i; ++k) b[i] -= a[i * n + k] * b[k];
        b[i] /= a[i * n + i];
    }
    for (std::size_t i = n; i-- > 0;) {
        for (std::size_t k = i + 1; k < n; ++k) b[i] -= a[k * n + i] * b[k];
        b[i] /= a[i * n + i];
    }
}

}  // namespace

GroupResidual::Point GroupResidual::point_of(const Operator& op, double forecast_s) {
    const std::array<double, 3> sizes = sizes_of(op);
    constexpr double far = 2.5;  // a decade of arithmetic, traffic or time
    return {op.phase == Phase::forward ? 0.0 : 1.0,
            log_of(total_flops(op)) / far,
            log_of(total_bytes(op)) / far,
            std::log(std::max(forecast_s, 1e-9)) / far,
            sizes[0],
            sizes[1],
            sizes[2]};
}

double GroupResidual::covariance(const Point& a, const Point& b) {
    double distance = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) distance += (a[i] - b[i]) * (a[i] - b[i]);
    // Matern's with nu = 3/2: errors bend more than a Gaussian lets them.
    const double r = std::sqrt(3.0 * distance) / range;
    return level_sd * level_sd + shared_sd * shared_sd * (1.0 + r) * std::exp(-r);
}

double GroupResidual::covariance_of(const Operator& a, double a_s, const Operator& b, double b_s) {
    return covariance(point_of(a, a_s), point_of(b, b_s));
}

GroupResidual::GroupResidual(const std::vector<ResidualRow>& rows) {
    const std::size_t n = std::min(rows.size(), max_rows);
    for (std::size_t i = 0; i < n; ++i) {
        points_.push_back(point_of(*rows[i].op, rows[i].forecast_s));
        // A row that strays by more than half is not believed beyond that.
        weights_.push_back(std::clamp(rows[i].log_residual, -0.5, 0.5));
    }
    std::vector<double> matrix(n * n);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
            matrix[i * n + j] = covariance(points_[i], points_[j]) + (i == j ? row_sd * row_sd : 0.0);
    solve(matrix, weights_);
}

double GroupResidual::at(const Operator& op, double forecast_s) const {
    const Point point = point_of(op, forecast_s);
    double sum = 0.0;
    for (std::size_t i = 0; i < points_.size(); ++i) sum += weights_[i] * covariance(point, points_[i]);
    return sum;
}

std::vector<double> GroupResidual::numbers() const {
    std::vector<double> out;
    for (std::size_t i = 0; i < points_.size(); ++i) {
        out.insert(out.end(), points_[i].begin(), points_[i].end());
        out.push_back(weights_[i]);
    }
    return out;
}

GroupResidual GroupResidual::from_numbers(const std::vector<double>& numbers) {
    GroupResidual out;
    for (std::size_t i = 0; i + anchor_width <= numbers.size(); i += anchor_width) {
        std::copy_n(numbers.data() + i, anchor_width - 1, out.points_.emplace_back().begin());
        out.weights_.push_back(numbers[i + anchor_width - 1]);
    }
    return out;
}

}  // namespace dlcast
