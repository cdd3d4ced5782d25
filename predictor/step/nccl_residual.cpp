// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/nccl_residual.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "predictor/step/link_catalog.h"

namespace dlcast {
namespace {

// Chosen where sites were left out of the fit of the form. The residual varies slowly: the form holds the knees.
constexpr double time_range = 12.0;  // in ln(predicted time): over which residuals go together
constexpr double size_range = 17.0;  // in ln(bytes)
constexpr double smoothness = 1.5;   // exponent of the distance: 1 is a random walk, 2 is smooth
constexpr double offset_sd = 0.21;   // of the whole table
constexpr double wiggle_sd = 0.14;   // along the table
constexpr double noise_sd = 0.02;    // of a repeated measurement

double ln_bytes(const TablePoint& point) { return std::log(std::max(point.bytes, 1.0)); }

double covariance(const TablePoint& a, const TablePoint& b) {
    const double distance = std::abs(std::log(a.predicted_us / b.predicted_us)) / time_range +
                            std::abs(ln_bytes(a) - ln_bytes(b)) / size_range;
    return offset_sd * offset_sd + wiggle_sd * wiggle_sd * std::exp(-std::pow(distance, smoothness));
}

// x with (K + noise) x = y by Gaussian elimination without pivots: the matrix is symmetric and positive definite.
std::vector<double> solve(std::vector<std::vector<double>> k, std::vector<double> y) {
    const std::size_t n = y.size();
    for (std::size_t i = 0; i < n; ++i) k[i][i] += noise_sd * noise_sd;
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t row = i + 1; row < n; ++row) {
            const double factor = k[row][i] / k[i][i];
            for (std::size_t j = i; j < n; ++j) k[row][j] -= factor * k[i][j];
            y[row] -= factor * y[i];
        }
    for (std::size_t i = n; i-- > 0;) {
        for (std::size_t j = i + 1; j < n; ++j) y[i] -= k[i][j] * y[j];
        y[i] /= k[i][i];
    }
    return y;
}

using Matrix = std::vector<std::vector<double>>;

Matrix covariances(std::span<const TablePoint> points, const std::vector<std::size_t>& chosen) {
    Matrix k(chosen.size(), std::vector<double>(chosen.size()));
    for (std::size_t i = 0; i < chosen.size(); ++i)
        for (std::size_t j = 0; j < chosen.size(); ++j) k[i][j] = covariance(points[chosen[i]], points[chosen[j]]);
    return k;
}

// Variance that is left, its mean over the points of each size class, added up: a table of many small sizes would
// otherwise leave its large ones unmeasured.
double left_variance(std::span<const TablePoint> points, const std::vector<std::size_t>& chosen) {
    const Matrix k = covariances(points, chosen);
    std::array<double, 3> count{};
    for (const TablePoint& point : points) count[size_class(point.bytes)] += 1;
    double sum = 0;
    for (const TablePoint& point : points) {
        std::vector<double> to(chosen.size());
        for (std::size_t i = 0; i < chosen.size(); ++i) to[i] = covariance(point, points[chosen[i]]);
        const auto x = solve(k, to);
        const double left = covariance(point, point) - std::inner_product(to.begin(), to.end(), x.begin(), 0.0);
        sum += left / count[size_class(point.bytes)];
    }
    return sum;
}

}  // namespace

std::vector<std::size_t> choose_sizes(std::span<const TablePoint> points, std::size_t count) {
    std::vector<std::size_t> chosen;
    while (chosen.size() < count) {
        std::size_t best = points.size();
        double least = 0;
        for (std::size_t i = 0; i < points.size(); ++i) {
            if (!points[i].may_measure || std::find(chosen.begin(), chosen.end(), i) != chosen.end()) continue;
            chosen.push_back(i);
            const double left = left_variance(points, chosen);
            chosen.pop_back();
            if (best == points.size() || left < least) {
                best = i;
                least = left;
            }
        }
        if (best == points.size()) break;
        chosen.push_back(best);
    }
    return chosen;
}

double residual_covariance(const TablePoint& a, const TablePoint& b) { return covariance(a, b); }

std::vector<double> residual_weights(std::span<const TablePoint> points, const std::vector<double>& residuals) {
    std::vector<std::size_t> all(points.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return solve(covariances(points, all), residuals);
}

std::vector<double> correct_by_residual(std::span<const TablePoint> points, std::span<const MeasuredPoint> measured) {
    std::vector<std::size_t> at;
    std::vector<double> residual;
    for (const auto& [index, time_us] : measured) {
        at.push_back(index);
        residual.push_back(std::log(time_us / points[index].predicted_us));
    }
    const auto weights = solve(covariances(points, at), residual);
    std::vector<double> times;
    for (const TablePoint& point : points) {
        double expected = 0;
        for (std::size_t i = 0; i < at.size(); ++i) expected += covariance(point, points[at[i]]) * weights[i];
        times.push_back(point.predicted_us * std::exp(expected));
    }
    // A residual that falls faster than the form rises would make more bytes cheaper.
    std::vector<std::size_t> order(points.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return points[a].bytes < points[b].bytes; });
    for (std::size_t i = 1; i < order.size(); ++i) times[order[i]] = std::max(times[order[i]], times[order[i - 1]]);
    return times;
}

}  // namespace dlcast
