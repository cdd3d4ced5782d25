// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/anchor_correction.h"

#include <algorithm>
#include <cmath>

namespace dlcast {
namespace {

// Parts of an error's variance that two steps share: always; on one generation of GPU in one precision; on one GPU.
struct SharedParts {
    double kind, generation, gpu;
};
constexpr SharedParts parts_of_new{0.50, 0.40, 0.05}, parts_of_known{0.20, 0.50, 0.20};

// What a factor of e in a size takes from the logarithm of the correlation.
constexpr double per_gpus = 0.05, per_micro_batch = 0.10, per_micro_steps = 0.05, per_tokens = 0.50;

double size_distance(double a, double b) { return std::abs(std::log(std::max(1.0, a) / std::max(1.0, b))); }

// x with C x = b by Gauss elimination; C is positive definite: each step has a part of its own.
std::vector<double> solved(std::vector<std::vector<double>> c, std::vector<double> b) {
    const std::size_t n = b.size();
    for (std::size_t k = 0; k < n; ++k)
        for (std::size_t i = k + 1; i < n; ++i) {
            const double by = c[i][k] / c[k][k];
            for (std::size_t j = k; j < n; ++j) c[i][j] -= by * c[k][j];
            b[i] -= by * b[k];
        }
    for (std::size_t i = n; i-- > 0;) {
        for (std::size_t j = i + 1; j < n; ++j) b[i] -= c[i][j] * b[j];
        b[i] /= c[i][i];
    }
    return b;
}

// How far `anchors` scatter about their own mean, in what their correlations `among` and `log_sd` explain; at least 1.
double birge_ratio(const std::vector<std::vector<double>>& among, const std::vector<Anchor>& anchors, double log_sd) {
    const std::size_t n = anchors.size();
    if (n < 2 || log_sd <= 0.0) return 1.0;
    const std::vector<double> ones = solved(among, std::vector<double>(n, 1.0));
    double mean = 0.0, weight = 0.0;
    for (std::size_t i = 0; i < n; ++i) mean += ones[i] * anchors[i].log_ratio, weight += ones[i];
    mean /= weight;
    std::vector<double> apart(n);
    for (std::size_t i = 0; i < n; ++i) apart[i] = anchors[i].log_ratio - mean;
    const std::vector<double> weighted = solved(among, apart);
    double chi_squared = 0.0;
    for (std::size_t i = 0; i < n; ++i) chi_squared += apart[i] * weighted[i] / (log_sd * log_sd);
    return std::sqrt(std::max(1.0, chi_squared / static_cast<double>(n - 1)));
}

}  // namespace

AnchorFacts anchor_facts(const Workload& workload, const Allocation& allocation, std::int64_t micro_batch,
                         double micro_steps) {
    return {.gpu = allocation.device.name,
            .architecture = allocation.device.architecture,
            .precision = workload.training.precision,
            .gpus = 1.0 * allocation.world_size(),
            .micro_batch = static_cast<double>(micro_batch),
            .micro_steps = micro_steps,
            .tokens = static_cast<double>(std::max<std::int64_t>(1, workload.model.seq_len))};
}

double error_correlation(const AnchorFacts& a, const AnchorFacts& b, bool known_kind) {
    const SharedParts parts = known_kind ? parts_of_known : parts_of_new;
    double shared = parts.kind;
    const bool alike = a.precision == b.precision && a.architecture == b.architecture;
    if (alike) shared += parts.generation;
    if (alike && a.gpu == b.gpu) shared += parts.gpu;
    return shared * std::exp(-per_gpus * size_distance(a.gpus, b.gpus) -
                             per_micro_batch * size_distance(a.micro_batch, b.micro_batch) -
                             per_micro_steps * size_distance(a.micro_steps, b.micro_steps) -
                             per_tokens * size_distance(a.tokens, b.tokens));
}

AnchorCorrection anchor_correction(const AnchorFacts& step, const std::vector<Anchor>& anchors, bool known_kind,
                                   double log_sd) {
    if (anchors.empty()) return {};
    const std::size_t n = anchors.size();
    std::vector<double> with_step;
    std::vector<std::vector<double>> among(n, std::vector<double>(n, 1.0));
    for (std::size_t i = 0; i < n; ++i) {
        with_step.push_back(error_correlation(step, anchors[i].facts, known_kind));
        for (std::size_t j = 0; j < n; ++j)
            if (i != j) among[i][j] = error_correlation(anchors[i].facts, anchors[j].facts, known_kind);
    }
    const std::vector<double> weights = solved(among, with_step);
    double log_factor = 0, explained = 0;
    for (std::size_t i = 0; i < n; ++i) {
        log_factor += weights[i] * anchors[i].log_ratio;
        explained += weights[i] * with_step[i];
    }
    return {std::exp(log_factor), std::sqrt(std::max(0.0, 1.0 - explained)) * birge_ratio(among, anchors, log_sd)};
}

}  // namespace dlcast
