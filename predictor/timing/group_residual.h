// SPDX-License-Identifier: GPL-2.0-or-later
// What is left of a measured GPU's errors once its three constants are fitted: a smooth function of the operators'
// sizes.
#pragma once

#include <array>
#include <vector>

#include "predictor/timing/operator.h"

namespace dlcast {

/// One measured call: its forecast and by how much the logarithm of the measured time is above it.
struct ResidualRow {
    const Operator* op;
    double forecast_s = 0.0;
    double log_residual = 0.0;
};

/// A Gaussian process with mean 0: calls of like sizes err alike on one GPU, calls far from all measured ones keep
/// their forecast. Rows of one network under one family of clocks. Source: Rasmussen & Williams, Gaussian Processes for
/// Machine Learning, 2006, algorithm 2.1.
class GroupResidual {
public:
    GroupResidual() = default;
    /// At most max_rows rows are used, the first ones.
    explicit GroupResidual(const std::vector<ResidualRow>& rows);
    /// To be added to the logarithm of the forecast of this call; 0 without rows.
    double at(const Operator& op, double forecast_s) const;
    /// Of the residuals of two calls, before anything is measured; squared log units.
    static double covariance_of(const Operator& a, double a_s, const Operator& b, double b_s);

    /// What there is to keep, to be read again: anchor_width numbers a call.
    static constexpr std::size_t anchor_width = 8;
    std::vector<double> numbers() const;
    static GroupResidual from_numbers(const std::vector<double>& numbers);

    static constexpr std::size_t max_rows = 512;  // solving takes the cube of it: some 50 ms

private:
    using Point = std::array<double, anchor_width - 1>;
    static Point point_of(const Operator& op, double forecast_s);
    static double covariance(const Point& a, const Point& b);
    std::vector<Point> points_;
    std::vector<double> weights_;
};

}  // namespace dlcast
