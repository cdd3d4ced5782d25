// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/sampling/effects.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "predictor/base/text.h"

namespace dlcast {
namespace {

constexpr std::size_t max_options_with_terms = 16;
constexpr std::size_t fewest_configurations = 4;
constexpr double largest_option_value = 1e100;
// A share is in log units, and an option's weight on another machine is of the order of the source's own; seconds are
// relative to a mean run, and fewer of them change.
constexpr double share_scale = 6.0;

std::vector<double> column_of(const Matrix& m, std::size_t j) {
    std::vector<double> out(m.rows);
    for (std::size_t i = 0; i < m.rows; ++i) out[i] = m(i, j);
    return out;
}

Status check(const Configurations& source, const std::vector<double>& values) {
    if (source.values.rows != values.size() || source.values.cols != source.options.size())
        return invalid_argument("source: configurations, options and values do not match in number");
    if (values.size() < fewest_configurations)
        return invalid_argument(
            fmt::format("source: {} configurations; measure at least {}", values.size(), fewest_configurations));
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!(values[i] > 0.0) || !std::isfinite(values[i]))
            return invalid_argument(
                fmt::format("source: configuration {} has the value {}; it must be above zero", i + 1, values[i]));
        for (std::size_t j = 0; j < source.options.size(); ++j)
            if (!(std::fabs(source.values(i, j)) <= largest_option_value))
                return invalid_argument(fmt::format("source: configuration {}: {} = {} is out of range", i + 1,
                                                    source.options[j], source.values(i, j)));
    }
    return ok();
}

double share_of(const Effects& effects, std::vector<double> point, std::size_t option, double at_point) {
    double sum = 0.0;
    for (const double level : effects.options[option].levels) {
        point[option] = level;
        sum += effects.source.predict(point.data());
    }
    return at_point - sum / static_cast<double>(effects.options[option].levels.size());
}

Result<Matrix> columns_for(const Effects& effects, const Configurations& configurations) {
    Matrix out(configurations.values.rows, effects.options.size());
    for (std::size_t j = 0; j < effects.options.size(); ++j) {
        const auto& names = configurations.options;
        const auto found = std::find(names.begin(), names.end(), effects.options[j].name);
        if (found == names.end()) {
            const std::string near = nearest_name(effects.options[j].name, names);
            return invalid_argument(fmt::format("the configurations lack the source's option '{}'{}",
                                                effects.options[j].name,
                                                near.empty() ? "" : fmt::format("; is it '{}'?", near)));
        }
        const auto column = static_cast<std::size_t>(found - names.begin());
        for (std::size_t i = 0; i < out.rows; ++i) out(i, j) = configurations.values(i, column);
    }
    return out;
}

Matrix levels_of(const Effects& effects, const Matrix& raw) {
    Matrix out(raw.rows, raw.cols);
    for (std::size_t i = 0; i < raw.rows; ++i)
        for (std::size_t j = 0; j < raw.cols; ++j) out(i, j) = effects.options[j].level(raw(i, j));
    return out;
}

/// log of the typical residual as a plane over the levels. Residuals vary much for reasons of luck, hence the ridge, as
/// strong as 20 configurations.
std::vector<double> spread_plane(const Matrix& levels, const std::vector<double>& residuals) {
    double mean = 0.0;
    for (const double r : residuals) mean += std::fabs(r) / static_cast<double>(residuals.size());
    // A tenth of the mean keeps single hits from pulling the logarithm down; the rest serves tables without noise.
    const double floor = 0.1 * mean + 1e-12;
    std::vector<double> logs;
    for (const double r : residuals) logs.push_back(std::log(std::fabs(r) + floor));
    const double centre = std::accumulate(logs.begin(), logs.end(), 0.0) / static_cast<double>(logs.size());
    for (double& v : logs) v -= centre;
    auto weights = ridge_regression(levels, logs, 20.0);
    double squares = 0.0;
    for (std::size_t i = 0; i < levels.rows; ++i)
        squares += std::exp(2.0 * dot(levels.row(i), weights.data(), weights.size()));
    weights.insert(weights.begin(), -0.5 * std::log(squares / static_cast<double>(levels.rows)));
    return weights;
}

double deviation(const std::vector<double>& x) {
    const double mean = std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
    double squares = 0.0;
    for (const double v : x) squares += (v - mean) * (v - mean);
    return std::sqrt(squares / static_cast<double>(x.size()));
}

/// Ranks the options by their shares at a few hundred source configurations.
void rank_options(Effects& effects) {
    const Matrix& levels = effects.source.levels;
    const std::size_t stride = 1 + levels.rows / 256;
    for (std::size_t j = 0; j < effects.options.size(); ++j) {
        std::vector<double> shares;
        for (std::size_t i = 0; i < levels.rows; i += stride) {
            const std::vector<double> point(levels.row(i), levels.row(i) + levels.cols);
            shares.push_back(share_of(effects, point, j, effects.source.predict(point.data())));
        }
        effects.importance.push_back(deviation(shares));
    }
    effects.with_terms.resize(effects.options.size());
    std::iota(effects.with_terms.begin(), effects.with_terms.end(), std::size_t{0});
    std::stable_sort(effects.with_terms.begin(), effects.with_terms.end(),
                     [&](auto a, auto b) { return effects.importance[a] > effects.importance[b]; });
    if (effects.with_terms.size() > max_options_with_terms) effects.with_terms.resize(max_options_with_terms);
    for (const std::size_t j : effects.with_terms) effects.term_names.push_back("share of " + effects.options[j].name);
    effects.term_names.push_back("seconds");
    for (const std::size_t j : effects.with_terms)
        effects.term_names.push_back("seconds by " + effects.options[j].name);
}

}  // namespace

Result<Effects> learn_effects(const Configurations& source, const std::vector<double>& values) {
    if (auto s = check(source, values); !s) return s.error();
    Effects effects;
    std::vector<std::size_t> columns;
    for (std::size_t j = 0; j < source.options.size(); ++j) {
        auto scale = scale_of(source.options[j], column_of(source.values, j));
        if (scale.levels.empty()) continue;
        effects.options.push_back(std::move(scale));
    }
    if (effects.options.empty())
        return invalid_argument("source: no option varies; a configuration table needs at least one that does");

    const auto raw = columns_for(effects, source);
    if (!raw) return raw.error();
    const Matrix levels = levels_of(effects, *raw);
    std::vector<double> logs;
    for (const double v : values) logs.push_back(std::log(v));
    effects.source = fit_source(levels, logs);

    std::vector<double> residuals;
    double inverse = 0.0;
    for (std::size_t i = 0; i < levels.rows; ++i) {
        const double f = effects.source.predict(levels.row(i));
        residuals.push_back(logs[i] - f);
        inverse += std::exp(effects.source.mean - f) / static_cast<double>(levels.rows);
    }
    effects.source_scale = std::log(inverse) - effects.source.mean;
    effects.log_spread_weights = spread_plane(levels, residuals);
    rank_options(effects);
    return effects;
}

Result<Terms> terms_at(const Effects& effects, const Configurations& configurations) {
    const auto raw = columns_for(effects, configurations);
    if (!raw) return raw.error();
    Terms terms;
    terms.levels = levels_of(effects, *raw);
    terms.values = Matrix(raw->rows, effects.term_names.size());
    const std::size_t count = effects.with_terms.size();
    for (std::size_t i = 0; i < raw->rows; ++i) {
        const std::vector<double> point(terms.levels.row(i), terms.levels.row(i) + terms.levels.cols);
        const double f = effects.source.predict(point.data());
        const double seconds = std::exp(-f - effects.source_scale);
        terms.source_log.push_back(f);
        terms.spread.push_back(std::exp(effects.log_spread_weights[0] +
                                        dot(point.data(), effects.log_spread_weights.data() + 1, point.size())));
        terms.values(i, count) = seconds - 1.0;
        for (std::size_t k = 0; k < count; ++k) {
            const std::size_t j = effects.with_terms[k];
            terms.values(i, k) = share_scale * share_of(effects, point, j, f);
            terms.values(i, count + 1 + k) = seconds * effects.options[j].pace((*raw)(i, j));
        }
    }
    return terms;
}

}  // namespace dlcast
