// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/sampling/choose.h"

#include <fmt/format.h>

#include <algorithm>

#include "predictor/sampling/draw.h"
#include "predictor/sampling/transfer_prior.h"

namespace dlcast {
namespace {

constexpr std::size_t max_candidates = 768;
constexpr int max_passes = 3;  // exchanges rarely help in a third

/// Prior covariance of the log ratio among the rows, averaged over all models: a term is in one of them with the chance
/// most_terms / terms.
Matrix prior_covariance(const TransferPrior& prior, const Effects& effects, const Terms& terms,
                        const std::vector<std::size_t>& rows) {
    const std::size_t count = terms.values.cols;
    const double weight = prior.caution * prior.term;
    const double chance = std::min(1.0, static_cast<double>(prior.most_terms) / static_cast<double>(count));
    Matrix k(rows.size(), rows.size());
    for (std::size_t a = 0; a < rows.size(); ++a)
        for (std::size_t b = 0; b <= a; ++b) {
            const double by_terms = dot(terms.values.row(rows[a]), terms.values.row(rows[b]), count);
            k(a, b) = k(b, a) = prior.level * prior.level + chance * weight * weight * by_terms +
                                local_covariance(prior, effects, terms, rows[a], terms, rows[b]);
        }
    return k;
}

/// Takes into account a measurement at row `i`.
void measure(Matrix& k, const std::vector<double>& noise, std::size_t i) {
    const std::vector<double> column(k.row(i), k.row(i) + k.cols);
    const double scale = 1.0 / (column[i] + noise[i]);
    for (std::size_t a = 0; a < k.rows; ++a) {
        const double factor = column[a] * scale;
        double* row = k.row(a);
        for (std::size_t b = 0; b < k.cols; ++b) row[b] -= factor * column[b];
    }
}

/// By how much a measurement at row `i` lowers the sum of variances.
double gain(const Matrix& k, const std::vector<double>& noise, std::size_t i) {
    return dot(k.row(i), k.row(i), k.cols) / (k(i, i) + noise[i]);
}

std::size_t best_row(const Matrix& k, const std::vector<double>& noise, const std::vector<std::size_t>& taken) {
    std::vector<bool> is_taken(k.rows, false);
    for (const std::size_t i : taken) is_taken[i] = true;
    std::size_t best = k.rows;
    double best_gain = -1.0;
    for (std::size_t i = 0; i < k.rows; ++i) {
        if (is_taken[i]) continue;
        const double g = gain(k, noise, i);
        if (g <= best_gain) continue;
        best_gain = g;
        best = i;
    }
    return best;
}

/// One pass of exchanges: each chosen row is taken out and the best one put in its place. False if all stay.
bool exchange(const Matrix& prior, const std::vector<double>& noise, std::vector<std::size_t>& chosen) {
    bool changed = false;
    for (std::size_t out = 0; out < chosen.size(); ++out) {
        Matrix k = prior;
        std::vector<std::size_t> others;
        for (std::size_t i = 0; i < chosen.size(); ++i) {
            if (i == out) continue;
            others.push_back(chosen[i]);
            measure(k, noise, chosen[i]);
        }
        const std::size_t better = best_row(k, noise, others);
        if (gain(k, noise, better) <= gain(k, noise, chosen[out]) * (1.0 + 1e-9)) continue;
        chosen[out] = better;
        changed = true;
    }
    return changed;
}

}  // namespace

Result<std::vector<std::size_t>> choose_configurations(const Effects& effects, const Configurations& candidates,
                                                       std::size_t budget, std::uint64_t seed) {
    const std::size_t count = candidates.values.rows;
    if (budget == 0 || budget > count)
        return invalid_argument(
            fmt::format("a budget of {} for {} configurations; give 1 to {}", budget, count, count));
    const auto terms = terms_at(effects, candidates);
    if (!terms) return terms.error();
    const TransferPrior prior;
    const auto rows = draw_rows(count, std::max(max_candidates, budget), seed);
    std::vector<double> noise;
    for (const std::size_t i : rows) {
        const double sd = prior.noise * terms->spread[i];
        noise.push_back(sd * sd + prior.least_noise * prior.least_noise);
    }
    const Matrix before = prior_covariance(prior, effects, *terms, rows);
    Matrix k = before;
    std::vector<std::size_t> chosen{next_random(seed) % rows.size()};
    measure(k, noise, chosen[0]);
    while (chosen.size() < budget) {
        chosen.push_back(best_row(k, noise, chosen));
        measure(k, noise, chosen.back());
    }
    // Exchanges cost budget^2 rows^2: beyond 64 the greedy choice is nearly as good.
    for (int pass = 0; budget <= 64 && pass < max_passes; ++pass)
        if (!exchange(before, noise, chosen)) break;
    for (std::size_t& i : chosen) i = rows[i];
    std::sort(chosen.begin(), chosen.end());
    return chosen;
}

}  // namespace dlcast
