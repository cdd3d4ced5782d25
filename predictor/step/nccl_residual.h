// SPDX-License-Identifier: GPL-2.0-or-later
// What few measured sizes of a table say about its others: a smooth residual over the cost model's form.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace dlcast {

/// One size of a table (one set-up, one collective), as the model sees it.
struct TablePoint {
    double bytes = 0.0;
    double predicted_us = 0.0;
    bool may_measure = true;
};

/// Indices of at most `count` points whose measurement leaves least uncertainty about all points; measured times play
/// no part. Greedy, the residual log(measured / predicted) being a Gaussian process over size and predicted time: sizes
/// on the latency plateau differ little, sizes in the bandwidth range more.
std::vector<std::size_t> choose_sizes(std::span<const TablePoint> points, std::size_t count);

struct MeasuredPoint {
    std::size_t index = 0;
    double time_us = 0.0;
};

/// Times of all points, predicted times the residual expected from `measured` (all times above 0). Never less for more
/// bytes.
std::vector<double> correct_by_residual(std::span<const TablePoint> points, std::span<const MeasuredPoint> measured);

/// What correct_by_residual is made of: the covariance of two points of one table, and the weights of measured points
/// whose residuals log(measured / predicted) are given.
double residual_covariance(const TablePoint& a, const TablePoint& b);
std::vector<double> residual_weights(std::span<const TablePoint> points, const std::vector<double>& residuals);

}  // namespace dlcast
