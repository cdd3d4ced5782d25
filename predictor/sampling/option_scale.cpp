// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/sampling/option_scale.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace dlcast {
namespace {

constexpr std::size_t max_levels = 12;
// A target may hold a value of another sign than the source had: it is then as small as can be.
constexpr double least_positive = 1e-100;

void mean_and_sd(const std::vector<double>& x, double& mean, double& sd) {
    const double n = static_cast<double>(x.size());
    mean = std::accumulate(x.begin(), x.end(), 0.0) / n;
    double squares = 0.0;
    for (const double v : x) squares += (v - mean) * (v - mean);
    sd = std::sqrt(squares / n);
}

}  // namespace

double OptionScale::level(double value) const {
    return ((positive ? std::log(std::max(value, least_positive)) : value) - level_mean) / level_sd;
}

double OptionScale::pace(double value) const {
    return ((positive ? 1.0 / std::max(value, least_positive) : value) - pace_mean) / pace_sd;
}

OptionScale scale_of(const std::string& name, const std::vector<double>& values) {
    OptionScale scale;
    scale.name = name;
    std::vector<double> distinct = values;
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    if (distinct.size() < 2) return scale;

    scale.positive = distinct.front() >= least_positive;
    std::vector<double> level = values, pace = values;
    if (scale.positive) {
        for (double& v : level) v = std::log(v);
        for (double& v : pace) v = 1.0 / v;
    }
    mean_and_sd(level, scale.level_mean, scale.level_sd);
    mean_and_sd(pace, scale.pace_mean, scale.pace_sd);
    const std::size_t count = std::min(distinct.size(), max_levels);
    for (std::size_t i = 0; i < count; ++i)
        scale.levels.push_back(scale.level(distinct[i * (distinct.size() - 1) / (count - 1)]));
    return scale;
}

}  // namespace dlcast
