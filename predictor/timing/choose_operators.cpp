// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/timing/choose_operators.h"

#include <array>
#include <cmath>
#include <numeric>

#include "predictor/sampling/draw.h"
#include "predictor/sampling/matrix.h"

namespace dlcast {
namespace {

constexpr std::size_t most_candidates = 1024;
constexpr double step = 0.05;  // of a constant, wide enough for the network's single precision

struct Forecasts {
    std::vector<double> times_s;
    std::array<std::vector<double>, 3> slopes;  // of the log time, by launch, compute and memory
};

Result<std::vector<double>> times_under(const std::vector<OperatorQuery>& queries, const LayerTimeModel& model,
                                        const GroupOffsets& offsets) {
    std::vector<OperatorQuery> asked = queries;
    for (OperatorQuery& query : asked) query.offsets = &offsets;
    const auto times = model.times(asked);
    if (!times) return times.error();
    std::vector<double> out;
    for (const OperatorTime& time : *times) out.push_back(time.median_s);
    return out;
}

Result<Forecasts> forecasts_of(const std::vector<OperatorQuery>& queries, const LayerTimeModel& model) {
    Forecasts out;
    auto times = times_under(queries, model, {});
    if (!times) return times.error();
    out.times_s = std::move(*times);
    const std::array<GroupOffsets, 3> moved{{{step, 0, 0, 0}, {0, step, 0, 0}, {0, 0, step, 0}}};
    for (std::size_t i = 0; i < moved.size(); ++i) {
        const auto there = times_under(queries, model, moved[i]);
        if (!there) return there.error();
        for (std::size_t row = 0; row < queries.size(); ++row)
            out.slopes[i].push_back(std::log((*there)[row] / out.times_s[row]) / step);
    }
    return out;
}

Matrix covariance_of(const std::vector<OperatorQuery>& queries, const Forecasts& forecasts, const GroupPrior& prior) {
    const std::array<double, 3> sd{prior.launch_sd, prior.compute_sd, prior.memory_sd};
    Matrix out(queries.size(), queries.size());
    for (std::size_t a = 0; a < queries.size(); ++a)
        for (std::size_t b = 0; b <= a; ++b) {
            double sum = GroupResidual::covariance_of(*queries[a].op, forecasts.times_s[a], *queries[b].op,
                                                      forecasts.times_s[b]);
            for (std::size_t i = 0; i < sd.size(); ++i)
                sum += sd[i] * sd[i] * forecasts.slopes[i][a] * forecasts.slopes[i][b];
            out(a, b) = out(b, a) = sum;
        }
    return out;
}

// The row whose measurement lowers the sum of variances most; takes it into account.
std::size_t measure_best(Matrix& k, double noise, std::vector<bool>& taken) {
    std::size_t best = k.rows;
    double best_gain = -1.0;
    for (std::size_t i = 0; i < k.rows; ++i) {
        if (taken[i]) continue;
        const double gain = dot(k.row(i), k.row(i), k.cols) / (k(i, i) + noise);
        if (gain <= best_gain) continue;
        best_gain = gain;
        best = i;
    }
    taken[best] = true;
    const std::vector<double> column(k.row(best), k.row(best) + k.cols);
    const double scale = 1.0 / (column[best] + noise);
    for (std::size_t a = 0; a < k.rows; ++a)
        for (std::size_t b = 0; b < k.cols; ++b) k(a, b) -= column[a] * scale * column[b];
    return best;
}

}  // namespace

Result<std::vector<std::size_t>> choose_operators(const std::vector<OperatorQuery>& candidates,
                                                  const LayerTimeModel& model, std::size_t budget, std::uint64_t seed,
                                                  const GroupPrior& prior) {
    const auto rows = draw_rows(candidates.size(), std::max(most_candidates, budget), seed);
    if (budget >= rows.size()) return rows;
    std::vector<OperatorQuery> queries;
    for (const std::size_t i : rows) queries.push_back(candidates[i]);
    const auto forecasts = forecasts_of(queries, model);
    if (!forecasts) return forecasts.error();
    Matrix k = covariance_of(queries, *forecasts, prior);
    std::vector<bool> taken(rows.size(), false);
    std::vector<std::size_t> out;
    while (out.size() < budget) out.push_back(rows[measure_best(k, prior.row_log_sd * prior.row_log_sd, taken)]);
    return out;
}

}  // namespace dlcast
