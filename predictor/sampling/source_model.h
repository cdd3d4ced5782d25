// SPDX-License-Identifier: GPL-2.0-or-later
// A smooth model of the logarithm of what was measured on the source machine: a Gaussian process that learns how far
// each option reaches. Source: Rasmussen & Williams, Gaussian Processes for Machine Learning (MIT Press 2006), ch. 2
// and 5 (automatic relevance determination in 5.1).
#pragma once

#include <vector>

#include "predictor/sampling/matrix.h"

namespace dlcast {

/// Matern covariance (nu = 3/2) of two points at scaled distance r: (1 + r) exp(-r).
double matern(const double* a, const double* b, const std::vector<double>& length_scales);

struct SourceModel {
    std::vector<double> length_scales;  // one an option, in its scaled levels: long means it matters little or linearly
    double amplitude = 0.3;             // of the part that is no plane, log units
    double noise = 0.02;                // of one measurement, log units
    double mean = 0.0;                  // log units
    Matrix levels;                      // fitted configurations x options
    std::vector<double> weights;        // one a fitted configuration

    /// log value at `point`, scaled levels of all options.
    double predict(const double* point) const;
};

/// Covariance: a plane (prior slope 1 an option) + amplitude^2 matern + noise^2. Amplitude, noise and length scales
/// maximise the marginal likelihood of at most 256 rows under weak priors; weights then use at most 1024 rows.
/// `levels`: rows x options, at least one of each.
SourceModel fit_source(const Matrix& levels, const std::vector<double>& log_values);

}  // namespace dlcast
