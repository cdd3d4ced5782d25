// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/step_fit.h"

#include <algorithm>
#include <cmath>

namespace dlcast {
namespace {

constexpr double noise = 0.12;  // of the logarithm of a measured step that the model describes well
constexpr int most_iterations = 30;
constexpr std::size_t n = constant_count;

using Matrix = std::vector<double>;  // n x n, row by row

double pseudo_huber(double r) { return std::sqrt(1.0 + r * r) - 1.0; }

double prior_penalty(const StepCoefficients& at, const StepCoefficients& prior) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double z = (at[i] - prior[i]) / constant_facts()[i].prior_sd;
        sum += z * z / 2;
    }
    return sum;
}

double objective(const std::vector<const MeasuredStepWork*>& rows, const StepCoefficients& at,
                 const StepCoefficients& prior) {
    double sum = prior_penalty(at, prior);
    for (const MeasuredStepWork* row : rows)
        sum += row->weight * pseudo_huber(std::log(step_times(row->work, at).step_s / row->measured_s) / noise);
    return sum;
}

// The Cholesky factor of A in its place, A symmetric and positive definite, of which the lower triangle is read.
void factorise(Matrix& a) {
    for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t k = 0; k < j; ++k)
            for (std::size_t i = j; i < n; ++i) a[i * n + j] -= a[i * n + k] * a[j * n + k];
        const double root = std::sqrt(std::max(a[j * n + j], 1e-12));
        for (std::size_t i = j; i < n; ++i) a[i * n + j] /= root;
    }
}

// L x = b, x in b's place.
void solve_lower(const Matrix& factor, StepCoefficients& b) {
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < i; ++k) b[i] -= factor[i * n + k] * b[k];
        b[i] /= factor[i * n + i];
    }
}

// A x = b; A and b are overwritten, b by x.
void solve(Matrix& a, StepCoefficients& b) {
    factorise(a);
    solve_lower(a, b);
    for (std::size_t i = n; i-- > 0;) {
        for (std::size_t k = i + 1; k < n; ++k) b[i] -= a[k * n + i] * b[k];
        b[i] /= a[i * n + i];
    }
}

struct Quadratic {
    Matrix curvature = Matrix(n * n, 0.0);  // lower triangle
    StepCoefficients descent{};             // minus the gradient
};

Quadratic quadratic_at(const std::vector<const MeasuredStepWork*>& rows, const StepCoefficients& at,
                       const StepCoefficients& prior) {
    Quadratic out;
    for (const MeasuredStepWork* row : rows) {
        const StepDual step = step_slopes(row->work, at).step_s;
        const double r = std::log(step.value / row->measured_s) / noise;
        const double pull = row->weight / std::sqrt(1.0 + r * r);
        std::array<double, n> slope;
        for (std::size_t i = 0; i < n; ++i) slope[i] = step.slope[i] / step.value / noise;
        for (std::size_t i = 0; i < n; ++i) {
            if (slope[i] == 0) continue;
            out.descent[i] -= pull * r * slope[i];
            for (std::size_t j = 0; j <= i; ++j) out.curvature[i * n + j] += pull * slope[i] * slope[j];
        }
    }
    for (std::size_t i = 0; i < n; ++i) {
        const double precision = 1.0 / (constant_facts()[i].prior_sd * constant_facts()[i].prior_sd);
        out.descent[i] -= (at[i] - prior[i]) * precision;
        out.curvature[i * n + i] += precision;
    }
    return out;
}

// Roots of the diagonal of A's inverse; with A = L L', that is of the squared lengths of the columns of L's inverse.
StepCoefficients deviations_of(Matrix curvature) {
    factorise(curvature);
    StepCoefficients out{};
    for (std::size_t k = 0; k < n; ++k) {
        StepCoefficients column{};
        column[k] = 1.0;
        solve_lower(curvature, column);
        double square = 0;
        for (const double x : column) square += x * x;
        out[k] = std::sqrt(square);
    }
    return out;
}

}  // namespace

StepFit fit_steps(const std::vector<const MeasuredStepWork*>& rows) {
    const StepCoefficients prior = prior_coefficients();
    StepFit fit;
    fit.coefficients = prior;
    fit.objective = objective(rows, prior, prior);
    double damping = 1e-2;
    while (fit.iterations < most_iterations) {
        ++fit.iterations;
        const Quadratic q = quadratic_at(rows, fit.coefficients, prior);
        double gained = 0;
        for (int attempt = 0; attempt < 6 && gained <= 0; ++attempt) {
            Matrix damped = q.curvature;
            for (std::size_t i = 0; i < n; ++i) damped[i * n + i] *= 1.0 + damping;
            StepCoefficients step = q.descent;
            solve(damped, step);
            StepCoefficients next = fit.coefficients;
            for (std::size_t i = 0; i < n; ++i) next[i] += std::clamp(step[i], -0.7, 0.7);
            const double value = objective(rows, next, prior);
            gained = fit.objective - value;
            if (gained > 0) {
                fit.coefficients = next;
                fit.objective = value;
                damping = std::max(1e-4, damping / 4);
            } else {
                damping *= 8;
            }
        }
        if (gained < 1e-4 * fit.objective) break;
    }
    fit.deviations = deviations_of(quadratic_at(rows, fit.coefficients, prior).curvature);
    return fit;
}

}  // namespace dlcast
