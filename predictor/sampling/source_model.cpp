// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/sampling/source_model.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "predictor/sampling/draw.h"

namespace dlcast {
namespace {

constexpr std::size_t max_rows_for_scales = 256;
constexpr std::size_t max_rows = 1024;
constexpr double mean_variance = 4.0;  // of the level that the options leave, log units squared
constexpr double slope_variance = 1.0;

double covariance(const SourceModel& model, const double* a, const double* b) {
    return mean_variance + slope_variance * dot(a, b, model.length_scales.size()) +
           model.amplitude * model.amplitude * matern(a, b, model.length_scales);
}

/// The factor of the covariance among the rows, noise included; false where rounding spoils it.
bool factor(const SourceModel& model, const Matrix& levels, Matrix& l) {
    l = Matrix(levels.rows, levels.rows);
    for (std::size_t i = 0; i < levels.rows; ++i) {
        for (std::size_t j = 0; j <= i; ++j) l(i, j) = covariance(model, levels.row(i), levels.row(j));
        l(i, i) += model.noise * model.noise;
    }
    return cholesky(l);
}

/// Parameters as logarithms: length scales, amplitude, noise.
SourceModel with_parameters(const std::vector<double>& p) {
    SourceModel model;
    const std::size_t options = p.size() - 2;
    for (std::size_t j = 0; j < options; ++j) model.length_scales.push_back(std::exp(p[j]));
    model.amplitude = std::exp(p[options]);
    model.noise = std::exp(p[options + 1]);
    return model;
}

/// Minus the log of marginal likelihood and prior. The prior (length scales about 4, amplitude 0.3, noise 2 %, each
/// within a factor of e^1.5) decides only where the rows do not.
double loss(const std::vector<double>& p, const Matrix& levels, const std::vector<double>& y) {
    const SourceModel model = with_parameters(p);
    Matrix l;
    if (!factor(model, levels, l)) return std::numeric_limits<double>::infinity();
    const auto alpha = cholesky_solve(l, y);
    double value = 0.5 * dot(alpha.data(), y.data(), y.size()) + 0.5 * cholesky_log_determinant(l);
    for (std::size_t j = 0; j < p.size(); ++j) {
        const double centre = j + 2 < p.size() ? std::log(4.0) : std::log(j + 2 == p.size() ? 0.3 : 0.02);
        value += 0.5 * std::pow((p[j] - centre) / 1.5, 2);
    }
    return value;
}

/// Pattern search: one parameter at a time, its step halved where neither direction helps.
std::vector<double> best_parameters(const Matrix& levels, const std::vector<double>& y) {
    std::vector<double> p(levels.cols + 2, std::log(4.0));
    p[levels.cols] = std::log(0.3);
    p[levels.cols + 1] = std::log(0.02);
    std::vector<double> step(p.size(), 0.8);
    double best = loss(p, levels, y);
    for (int round = 0; round < 7; ++round)
        for (std::size_t j = 0; j < p.size(); ++j) {
            bool better = false;
            for (const double sign : {1.0, -1.0}) {
                auto trial = p;
                trial[j] += sign * step[j];
                const double value = loss(trial, levels, y);
                if (value >= best) continue;
                best = value;
                p = std::move(trial);
                better = true;
                break;
            }
            if (!better) step[j] *= 0.5;
        }
    return p;
}

Matrix rows_of(const Matrix& m, const std::vector<std::size_t>& rows) {
    Matrix out(rows.size(), m.cols);
    for (std::size_t i = 0; i < rows.size(); ++i) std::copy(m.row(rows[i]), m.row(rows[i]) + m.cols, out.row(i));
    return out;
}

std::vector<double> values_of(const std::vector<double>& y, const std::vector<std::size_t>& rows, double mean) {
    std::vector<double> out;
    for (const std::size_t i : rows) out.push_back(y[i] - mean);
    return out;
}

}  // namespace

double matern(const double* a, const double* b, const std::vector<double>& length_scales) {
    double squares = 0.0;
    for (std::size_t j = 0; j < length_scales.size(); ++j) {
        const double d = (a[j] - b[j]) / length_scales[j];
        squares += d * d;
    }
    const double r = std::sqrt(squares);
    return (1.0 + r) * std::exp(-r);
}

double SourceModel::predict(const double* point) const {
    double sum = mean;
    for (std::size_t i = 0; i < weights.size(); ++i) sum += weights[i] * covariance(*this, point, levels.row(i));
    return sum;
}

SourceModel fit_source(const Matrix& levels, const std::vector<double>& log_values) {
    const double mean =
        std::accumulate(log_values.begin(), log_values.end(), 0.0) / static_cast<double>(log_values.size());
    const auto few = draw_rows(levels.rows, max_rows_for_scales, 1);
    SourceModel model = with_parameters(best_parameters(rows_of(levels, few), values_of(log_values, few, mean)));
    model.mean = mean;
    const auto rows = draw_rows(levels.rows, max_rows, 2);
    model.levels = rows_of(levels, rows);
    Matrix l;
    // Rounding can spoil a covariance whose noise is next to nothing; a little more noise mends it.
    while (!factor(model, model.levels, l)) model.noise = 2.0 * model.noise + 1e-6;
    model.weights = cholesky_solve(l, values_of(log_values, rows, mean));
    return model;
}

}  // namespace dlcast
