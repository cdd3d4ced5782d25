// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/evaluate_sampling.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cli/sampling_table.h"
#include "predictor/base/text.h"
#include "predictor/sampling/choose.h"
#include "predictor/sampling/draw.h"
#include "predictor/sampling/shift.h"
#include "predictor/sampling/transfer.h"

namespace dlcast {
namespace {

constexpr std::uint64_t random_draws = 5;

Configurations rows_of(const Configurations& all, const std::vector<std::size_t>& rows) {
    Configurations out{.options = all.options, .values = Matrix(rows.size(), all.options.size())};
    for (std::size_t i = 0; i < rows.size(); ++i)
        std::copy_n(all.values.row(rows[i]), all.options.size(), out.values.row(i));
    return out;
}

struct SourceMachine {
    std::vector<std::string> options;
    Effects effects;
};

Result<SourceMachine> learn_source(const SamplingRequest& request, const SamplingTable& target) {
    auto table = read_sampling_table(request.source);
    if (!table) return table.error();
    const auto column = take_column(*table, request.column);
    if (!column) return column.error();
    auto options = common_options(*table, target, request.options);
    if (!options) return options.error();
    std::vector<std::size_t> all(table->lines.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const auto values = measurements(*table, *column, all);
    if (!values) return values.error();
    auto effects = learn_effects(configurations_of(*table, *options), *values);
    if (!effects) return Error{effects.error().fault, request.source + ": " + effects.error().message};
    return SourceMachine{std::move(*options), std::move(*effects)};
}

/// What was measured on the target, all of it: for scoring alone.
struct Truth {
    std::vector<std::size_t> rows;
    std::vector<double> values;  // one a configuration of the target; 0 where there is none
};

Truth read_truth(const TextColumn& column) {
    Truth truth;
    truth.values.assign(column.cells.size(), 0.0);
    for (std::size_t i = 0; i < column.cells.size(); ++i) {
        const auto number = parse_number(trim(column.cells[i]));
        if (!number || !(*number > 0.0)) continue;
        truth.rows.push_back(i);
        truth.values[i] = *number;
    }
    return truth;
}

std::vector<double> relative_errors_pct(const Truth& truth, const std::vector<std::size_t>& measured,
                                        const std::vector<double>& predicted) {
    std::vector<double> errors;
    for (const std::size_t i : truth.rows)
        if (std::find(measured.begin(), measured.end(), i) == measured.end())
            errors.push_back(100.0 * std::fabs(predicted[i] / truth.values[i] - 1.0));
    return errors;
}

SamplingError error_of(const std::string& method, std::vector<double> errors) {
    SamplingError out;
    out.method = method;
    out.rows = errors.size();
    if (errors.empty()) return out;
    std::sort(errors.begin(), errors.end());
    out.mape_pct = std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size());
    out.median_ape_pct = errors[errors.size() / 2];
    out.p90_ape_pct = errors[errors.size() * 9 / 10];
    return out;
}

/// The same model with configurations drawn at random; the errors of all draws together.
Result<SamplingError> random_sampling(const Effects& effects, const Configurations& target, const Truth& truth,
                                      const SamplingRequest& request) {
    std::vector<double> errors;
    for (std::uint64_t draw = 0; draw < random_draws; ++draw) {
        std::vector<std::size_t> rows;
        std::vector<double> values;
        for (const std::size_t i : draw_rows(truth.rows.size(), request.budget, request.seed * random_draws + draw)) {
            rows.push_back(truth.rows[i]);
            values.push_back(truth.values[truth.rows[i]]);
        }
        const auto transfer = fit_transfer(effects, rows_of(target, rows), values);
        if (!transfer) return transfer.error();
        const auto predicted = predict_transfer(effects, *transfer, target);
        if (!predicted) return predicted.error();
        const auto more = relative_errors_pct(truth, rows, *predicted);
        errors.insert(errors.end(), more.begin(), more.end());
    }
    auto out = error_of("random sampling, same model", std::move(errors));
    out.rows /= random_draws;
    return out;
}

Result<std::vector<SamplingError>> compare(const Effects& effects, const Configurations& target, const Truth& truth,
                                           const SamplingRequest& request, const SamplingEvaluation& done) {
    const auto at_target = terms_at(effects, target);
    if (!at_target) return at_target.error();
    std::vector<double> direct, measured;
    for (const double log_value : at_target->source_log) direct.push_back(std::exp(log_value));
    for (const std::size_t i : done.chosen) measured.push_back(truth.values[i]);
    const auto random = random_sampling(effects, target, truth, request);
    if (!random) return random.error();
    const auto score = [&](const char* method, const std::vector<double>& predicted) {
        return error_of(method, relative_errors_pct(truth, done.chosen, predicted));
    };
    return std::vector<SamplingError>{
        score("guided sampling", done.predicted), *random,
        score("non-linear shift, same configurations", nonlinear_shift(direct, done.chosen, measured)),
        score("linear shift, same configurations", linear_shift(direct, done.chosen, measured)),
        score("direct transfer", direct)};
}

}  // namespace

Result<SamplingEvaluation> evaluate_sampling(const SamplingRequest& request) {
    auto table = read_sampling_table(request.target);
    if (!table) return table.error();
    // From here to `measurements` the target's values are out of reach.
    const auto column = take_column(*table, request.column);
    if (!column) return column.error();
    const auto source = learn_source(request, *table);
    if (!source) return source.error();
    const Configurations target = configurations_of(*table, source->options);
    auto chosen = choose_configurations(source->effects, target, request.budget, request.seed);
    if (!chosen) return Error{chosen.error().fault, request.target + ": " + chosen.error().message};

    SamplingEvaluation out;
    out.names = configuration_names(*table);
    out.chosen = std::move(*chosen);
    const auto values = measurements(*table, *column, out.chosen);
    if (!values) return values.error();
    const auto transfer = fit_transfer(source->effects, rows_of(target, out.chosen), *values);
    if (!transfer) return transfer.error();
    auto predicted = predict_transfer(source->effects, *transfer, target);
    if (!predicted) return predicted.error();
    out.predicted = std::move(*predicted);
    for (std::size_t t = 0; t < transfer->inclusion.size(); ++t)
        out.differing.emplace_back(source->effects.term_names[t], transfer->inclusion[t]);
    std::stable_sort(out.differing.begin(), out.differing.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });

    const Truth truth = read_truth(*column);
    if (truth.rows.size() == out.chosen.size()) return out;
    auto errors = compare(source->effects, target, truth, request, out);
    if (!errors) return errors.error();
    out.errors = std::move(*errors);
    return out;
}

}  // namespace dlcast
