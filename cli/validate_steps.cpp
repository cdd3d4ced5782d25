// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/validate_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "predictor/base/text.h"
#include "predictor/step/device_constants.h"
#include "predictor/step/quantile.h"
#include "predictor/step/step_anchor.h"
#include "predictor/timing/weights_manifest.h"

namespace dlcast {
namespace {

// Of everything that a fold's result depends on.
std::string fingerprint(const std::vector<TrainingStep>& steps, const std::string& fact) {
    std::string all = fact;
    for (const ConstantFacts& c : constant_facts()) all += fmt::format(" {} {} {}", c.name, c.prior, c.prior_sd);
    const StepCoefficients prior = prior_coefficients();
    for (const TrainingStep& step : steps)
        all += fmt::format(" {} {:.6g} {:.6g} {:.9g}", step.row_id, step.measured.measured_s, step.measured.weight,
                           step_times(step.measured.work, prior).step_s);
    return weights_id(all);
}

// Finished folds: a line "fold <tab> row <tab> seconds" a step, under a line with the fingerprint.
using Finished = std::map<std::string, std::map<std::string, double>>;

Finished read_state(const std::string& path, const std::string& print) {
    Finished out;
    std::error_code ignored;
    if (path.empty() || !std::filesystem::exists(path, ignored)) return out;
    const auto text = read_file(path, 1u << 26);
    if (!text) return out;
    bool is_ours = false;
    for (const std::string& line : split(*text, '\n')) {
        if (line == print) is_ours = true;
        const std::vector<std::string> parts = split(line, '\t');
        if (!is_ours || parts.size() != 3) continue;
        if (const auto seconds = parse_number(parts[2])) out[parts[0]][parts[1]] = *seconds;
    }
    return out;
}

Status write_state(const std::string& path, const std::string& print, const Finished& finished) {
    if (path.empty()) return ok();
    std::string text = print + "\n";
    for (const auto& [fold, rows] : finished)
        for (const auto& [row, seconds] : rows) text += fmt::format("{}\t{}\t{:.9g}\n", fold, row, seconds);
    return write_file_atomically(path, text);
}

}  // namespace

Result<std::vector<double>> validate_steps(const std::vector<TrainingStep>& steps, const std::string& fact,
                                           const std::string& state_file) {
    const std::string print = fingerprint(steps, fact);
    Finished finished = read_state(state_file, print);
    std::set<std::string> folds;
    for (const TrainingStep& step : steps) folds.insert(step.facts.facts.at(fact));
    std::size_t done = 0;
    for (const std::string& fold : folds) {
        ++done;
        const auto left_out = [&](const TrainingStep& step) { return step.facts.facts.at(fact) == fold; };
        if (finished.count(fold) > 0) continue;
        const StepFit fit = fit_where(steps, [&](const TrainingStep& step) { return !left_out(step); });
        for (const TrainingStep& step : steps)
            if (left_out(step)) finished[fold][step.row_id] = step_times(step.measured.work, fit.coefficients).step_s;
        fmt::print(stderr, "dlcast: fold {} of {}: without {} {}\n", done, folds.size(), fact, fold);
        if (auto status = write_state(state_file, print, finished); !status) return status.error();
    }
    std::vector<double> out;
    for (const TrainingStep& step : steps) out.push_back(finished[step.facts.facts.at(fact)][step.row_id]);
    return out;
}

std::vector<StepError> OneMeasured::of_corrected(const std::vector<StepError>& rows) const {
    std::vector<StepError> out;
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (corrected[i]) out.push_back(rows[i]);
    return out;
}

OneMeasured with_one_measured(const std::vector<TrainingStep>& steps, const std::vector<double>& forecast_s,
                              bool known_kinds) {
    // How much a doubling of each size, and another generation, change of an error.
    constexpr std::array<double, 4> size_weights{0.3, 0.5, 0.3, 2.0};
    constexpr double generation_weight = 0.7;
    const auto distance = [&](const TrainingStep& a, const TrainingStep& b) {
        const bool alike = a.measured.work.device.architecture == b.measured.work.device.architecture;
        double sum = alike ? 0.0 : generation_weight;
        for (std::size_t i = 0; i < a.sizes.size(); ++i)
            sum += size_weights[i] * std::abs(std::log(a.sizes[i] / b.sizes[i]));
        return sum;
    };
    std::map<std::string, std::vector<std::size_t>> by_setup;
    for (std::size_t i = 0; i < steps.size(); ++i) by_setup[steps[i].setup].push_back(i);
    OneMeasured out{forecast_s, std::vector<bool>(steps.size(), false)};
    for (std::size_t i = 0; i < steps.size(); ++i) {
        std::optional<std::size_t> nearest;
        for (const std::size_t j : by_setup[steps[i].setup]) {
            if (steps[j].facts.facts.at("gpu") == steps[i].facts.facts.at("gpu")) continue;
            if (!nearest || distance(steps[i], steps[j]) < distance(steps[i], steps[*nearest])) nearest = j;
        }
        if (!nearest) continue;
        out.corrected[i] = true;
        out.forecast_s[i] *=
            anchor_factor({std::log(steps[*nearest].measured.measured_s / forecast_s[*nearest])}, known_kinds);
    }
    return out;
}

double log_sd_of(const std::vector<StepError>& rows) {
    std::vector<double> needed;  // for the row to lie inside
    for (const StepError& row : rows) {
        const double z = std::abs(std::log(row.measured_ms / row.predicted_ms)) / normal_quantile(0.95);
        needed.push_back(std::sqrt(std::max(0.0, z * z - row.clock_log_sd * row.clock_log_sd)));
    }
    if (needed.empty()) return 0.0;
    const auto at = static_cast<std::ptrdiff_t>(0.9 * static_cast<double>(needed.size()));
    std::nth_element(needed.begin(), needed.begin() + at, needed.end());
    return needed[static_cast<std::size_t>(at)];
}

std::vector<StepError> errors_of(const std::vector<TrainingStep>& steps, const std::vector<double>& forecast_s,
                                 const std::string& fact) {
    std::vector<StepError> rows;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        rows.push_back(steps[i].facts);
        rows.back().predicted_ms = 1e3 * forecast_s[i];
        if (fact == "gpu") rows.back().clock_log_sd = clock_log_sd(steps[i].measured.work.device);
    }
    if (fact.empty()) return rows;
    std::map<std::string, double> log_sds;
    for (StepError& row : rows) {
        const std::string& fold = row.facts.at(fact);
        if (log_sds.count(fold) == 0) {
            std::vector<StepError> others;
            std::copy_if(rows.begin(), rows.end(), std::back_inserter(others),
                         [&](const StepError& other) { return other.facts.at(fact) != fold; });
            log_sds[fold] = log_sd_of(others);
        }
        const double width = normal_quantile(0.95) * std::hypot(log_sds[fold], row.clock_log_sd);
        row.inside_interval = std::abs(std::log(row.measured_ms / row.predicted_ms)) <= width;
    }
    return rows;
}

double mean_family_median(const std::vector<StepError>& cases) {
    const StepFigureTable by = step_figures_by(cases, {"family"});
    if (by.empty()) return 0.0;
    double sum = 0;
    for (const auto& [family, figures] : by.at("family")) sum += figures.median_ape_pct;
    return sum / static_cast<double>(by.at("family").size());
}

}  // namespace dlcast
