// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/sampling/transfer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "predictor/sampling/transfer_prior.h"

namespace dlcast {
namespace {

// Noise of a measurement on the new machine, log units: quiet, usual, busy.
constexpr double noise_levels[] = {0.015, 0.03, 0.06};

/// All sets of up to `most` of `count` terms.
std::vector<std::vector<std::size_t>> term_sets(std::size_t count, std::size_t most) {
    std::vector<std::vector<std::size_t>> sets{{}};
    for (std::size_t begin = 0, size = 1; size <= most; ++size) {
        const std::size_t end = sets.size();
        for (std::size_t s = begin; s < end; ++s)
            for (std::size_t k = sets[s].empty() ? 0 : sets[s].back() + 1; k < count; ++k) {
                auto larger = sets[s];
                larger.push_back(k);
                sets.push_back(std::move(larger));
            }
        begin = end;
    }
    return sets;
}

/// One model's share in the average.
struct FittedModel {
    double log_evidence = 0.0;
    std::size_t terms = 0;         // index into the sets
    std::vector<double> residual;  // inverse covariance times log ratios
};

struct Data {
    const Effects& effects;
    const Terms& terms;
    const std::vector<double>& ratios;  // log value - f
};

/// Covariance of the measurements without terms.
Matrix base_covariance(const TransferPrior& prior, const Data& data, double noise) {
    const std::size_t n = data.ratios.size();
    Matrix k(n, n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j <= i; ++j)
            k(i, j) = prior.level * prior.level + local_covariance(prior, data.effects, data.terms, i, data.terms, j);
        const double sd = noise * data.terms.spread[i];
        k(i, i) += sd * sd + prior.least_noise * prior.least_noise;
    }
    return k;
}

FittedModel fit_model(const TransferPrior& prior, const Data& data, Matrix k, const std::vector<std::size_t>& set) {
    for (std::size_t i = 0; i < k.rows; ++i)
        for (std::size_t j = 0; j <= i; ++j)
            for (const std::size_t t : set)
                k(i, j) += prior.term * prior.term * data.terms.values(i, t) * data.terms.values(j, t);
    cholesky(k);  // positive definite by the noise
    FittedModel model;
    model.residual = cholesky_solve(k, data.ratios);
    model.log_evidence =
        -0.5 * dot(model.residual.data(), data.ratios.data(), data.ratios.size()) - 0.5 * cholesky_log_determinant(k);
    return model;
}

std::vector<FittedModel> fit_models(const TransferPrior& prior, const Data& data,
                                    const std::vector<std::vector<std::size_t>>& sets) {
    std::vector<FittedModel> models;
    for (const double noise : noise_levels) {
        const Matrix base = base_covariance(prior, data, noise);
        for (std::size_t s = 0; s < sets.size(); ++s) {
            models.push_back(fit_model(prior, data, base, sets[s]));
            models.back().terms = s;
        }
    }
    return models;
}

}  // namespace

Result<Transfer> fit_transfer(const Effects& effects, const Configurations& measured,
                              const std::vector<double>& values) {
    if (values.empty() || values.size() != measured.values.rows)
        return invalid_argument(fmt::format("{} measured values for {} configurations; give one for each",
                                            values.size(), measured.values.rows));
    for (std::size_t i = 0; i < values.size(); ++i)
        if (!(values[i] > 0.0) || !std::isfinite(values[i]))
            return invalid_argument(
                fmt::format("measured configuration {} has the value {}; it must be above zero", i + 1, values[i]));
    auto terms = terms_at(effects, measured);
    if (!terms) return terms.error();

    const TransferPrior prior;
    std::vector<double> ratios;
    for (std::size_t i = 0; i < values.size(); ++i) ratios.push_back(std::log(values[i]) - terms->source_log[i]);
    const std::size_t count = terms->values.cols;
    const auto sets = term_sets(count, prior.most_terms);
    const auto models = fit_models(prior, {effects, *terms, ratios}, sets);

    double highest = models.front().log_evidence, sum = 0.0;
    for (const FittedModel& m : models) highest = std::max(highest, m.log_evidence);
    for (const FittedModel& m : models) sum += std::exp(m.log_evidence - highest);
    Transfer transfer;
    transfer.weights.assign(count, 0.0);
    transfer.inclusion.assign(count, 0.0);
    transfer.rest_weights.assign(values.size(), 0.0);
    for (const FittedModel& m : models) {
        const double chance = std::exp(m.log_evidence - highest) / sum;
        for (std::size_t i = 0; i < values.size(); ++i) {
            transfer.level += chance * prior.level * prior.level * m.residual[i];
            transfer.rest_weights[i] += chance * m.residual[i];
            for (const std::size_t t : sets[m.terms])
                transfer.weights[t] += chance * prior.term * prior.term * terms->values(i, t) * m.residual[i];
        }
        for (const std::size_t t : sets[m.terms]) transfer.inclusion[t] += chance;
    }
    transfer.measured = std::move(*terms);
    return transfer;
}

Result<std::vector<double>> predict_transfer(const Effects& effects, const Transfer& transfer,
                                             const Configurations& configurations) {
    const auto terms = terms_at(effects, configurations);
    if (!terms) return terms.error();
    const TransferPrior prior;
    std::vector<double> out;
    for (std::size_t i = 0; i < configurations.values.rows; ++i) {
        double log_value = terms->source_log[i] + transfer.level +
                           dot(terms->values.row(i), transfer.weights.data(), transfer.weights.size());
        for (std::size_t m = 0; m < transfer.rest_weights.size(); ++m)
            log_value += transfer.rest_weights[m] * local_covariance(prior, effects, *terms, i, transfer.measured, m);
        out.push_back(std::exp(log_value));
    }
    return out;
}

}  // namespace dlcast
