// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/sampling/shift.h"

#include <algorithm>
#include <cmath>

#include "predictor/sampling/matrix.h"

namespace dlcast {
namespace {

constexpr double rounding = 1e-9;  // ridge that keeps equal source values solvable

/// Least squares of a polynomial of at most `degree` through (x, y), at all of `at`.
std::vector<double> polynomial(const std::vector<double>& x, const std::vector<double>& y, std::size_t degree,
                               const std::vector<double>& at) {
    const std::size_t coefficients = std::min(degree + 1, x.size());
    Matrix powers(x.size(), coefficients, 1.0);
    for (std::size_t i = 0; i < x.size(); ++i)
        for (std::size_t p = 1; p < coefficients; ++p) powers(i, p) = powers(i, p - 1) * x[i];
    const auto w = ridge_regression(powers, y, rounding);
    std::vector<double> out;
    for (const double v : at) {
        double sum = 0.0;
        for (std::size_t p = coefficients; p-- > 0;) sum = sum * v + w[p];
        out.push_back(sum);
    }
    return out;
}

std::vector<double> at_rows(const std::vector<double>& values, const std::vector<std::size_t>& rows) {
    std::vector<double> out;
    for (const std::size_t i : rows) out.push_back(values[i]);
    return out;
}

std::vector<double> scaled(std::vector<double> values, double factor) {
    for (double& v : values) v *= factor;
    return values;
}

}  // namespace

std::vector<double> linear_shift(const std::vector<double>& source, const std::vector<std::size_t>& chosen,
                                 const std::vector<double>& measured) {
    // In units of the largest values, so that the ridge means the same for seconds and milliwatts.
    const double x_unit = *std::max_element(source.begin(), source.end());
    const double y_unit = *std::max_element(measured.begin(), measured.end());
    const auto x = scaled(source, 1.0 / x_unit);
    return scaled(polynomial(at_rows(x, chosen), scaled(measured, 1.0 / y_unit), 1, x), y_unit);
}

std::vector<double> nonlinear_shift(const std::vector<double>& source, const std::vector<std::size_t>& chosen,
                                    const std::vector<double>& measured) {
    auto x = source;
    auto y = measured;
    for (double& v : x) v = std::log(v);
    for (double& v : y) v = std::log(v);
    auto out = polynomial(at_rows(x, chosen), y, 2, x);
    for (double& v : out) v = std::exp(v);
    return out;
}

}  // namespace dlcast
