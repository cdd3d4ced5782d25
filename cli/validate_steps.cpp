// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/validate_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>

#include "predictor/base/text.h"
#include "predictor/step/device_constants.h"
#include "predictor/step/quantile.h"
#include "predictor/step/step_doubt.h"
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

// Finished folds: a line "fold <tab> row <tab> seconds <tab> log_sd of constants" a step, under a line with the
// fingerprint.
StepFolds read_state(const std::string& path, const std::string& print, std::size_t rows) {
    StepFolds out;
    std::error_code ignored;
    if (path.empty() || !std::filesystem::exists(path, ignored)) return out;
    const auto text = read_file(path, 1u << 26);
    if (!text) return out;
    bool is_ours = false;
    for (const std::string& line : split(*text, '\n')) {
        if (line == print) is_ours = true;
        const std::vector<std::string> parts = split(line, '\t');
        if (!is_ours || parts.size() != 4) continue;
        const auto seconds = parse_number(parts[2]), log_sd = parse_number(parts[3]);
        if (!seconds || !log_sd) continue;
        out[parts[0]].step_s.push_back(*seconds);
        out[parts[0]].constants_log_sd.push_back(*log_sd);
    }
    std::erase_if(out, [rows](const auto& fold) { return fold.second.step_s.size() != rows; });
    return out;
}

Status write_state(const std::string& path, const std::string& print, const std::vector<TrainingStep>& steps,
                   const StepFolds& folds) {
    if (path.empty()) return ok();
    std::string text = print + "\n";
    for (const auto& [fold, of] : folds)
        for (std::size_t i = 0; i < steps.size(); ++i)
            text +=
                fmt::format("{}\t{}\t{:.9g}\t{:.9g}\n", fold, steps[i].row_id, of.step_s[i], of.constants_log_sd[i]);
    return write_file_atomically(path, text);
}

const std::string& value_of(const TrainingStep& step, const std::string& fact) { return step.facts.facts.at(fact); }

}  // namespace

StepForecasts forecasts_of(const std::vector<TrainingStep>& steps, const StepFit& fit) {
    StepForecasts out;
    for (const TrainingStep& step : steps) {
        out.step_s.push_back(step_times(step.measured.work, fit.coefficients).step_s);
        out.constants_log_sd.push_back(constants_log_sd(step.measured.work, fit.coefficients, fit.deviations));
    }
    return out;
}

Result<StepFolds> validate_steps(const std::vector<TrainingStep>& steps, const std::string& fact,
                                 const std::string& state_file) {
    const std::string print = fingerprint(steps, fact);
    StepFolds out = read_state(state_file, print, steps.size());
    std::set<std::string> names;
    for (const TrainingStep& step : steps) names.insert(value_of(step, fact));
    std::size_t done = 0;
    for (const std::string& name : names) {
        ++done;
        if (out.count(name) > 0) continue;
        out[name] = forecasts_of(
            steps, fit_where(steps, [&](const TrainingStep& step) { return value_of(step, fact) != name; }));
        fmt::print(stderr, "dlcast: fold {} of {}: without {} {}\n", done, names.size(), fact, name);
        if (auto status = write_state(state_file, print, steps, out); !status) return status.error();
    }
    return out;
}

std::optional<AnchorCorrection> with_one_measured(const std::vector<TrainingStep>& steps, const StepFolds& folds,
                                                  const std::string& fact, std::size_t i) {
    const bool known_kinds = fact == "gpu" || fact == "source";
    const TrainingStep& own = steps[i];
    std::optional<std::size_t> best;
    double highest = 0;
    for (std::size_t j = 0; j < steps.size(); ++j) {
        if (steps[j].setup != own.setup || value_of(steps[j], "gpu") == value_of(own, "gpu")) continue;
        const double correlation = error_correlation(own.anchor, steps[j].anchor, known_kinds);
        if (correlation <= highest) continue;
        highest = correlation;
        best = j;
    }
    if (!best) return std::nullopt;
    const double forecast_s = folds.at(value_of(own, fact)).step_s[*best];
    return anchor_correction(
        own.anchor, {{steps[*best].anchor, std::log(steps[*best].measured.measured_s / forecast_s)}}, known_kinds);
}

double log_sd_of(const std::vector<StepError>& cases) {
    std::vector<double> needed;  // for the one to lie inside
    for (const StepError& one : cases) {
        const double z = std::abs(std::log(one.measured_ms / one.predicted_ms)) / normal_quantile(0.95);
        needed.push_back(std::sqrt(std::max(0.0, z * z - one.known_log_sd * one.known_log_sd)));
    }
    if (needed.empty()) return 0.0;
    const auto at = static_cast<std::ptrdiff_t>(0.9 * static_cast<double>(needed.size()));
    std::nth_element(needed.begin(), needed.begin() + at, needed.end());
    return needed[static_cast<std::size_t>(at)];
}

std::vector<StepError> errors_of(const std::vector<TrainingStep>& steps, const StepForecasts& forecasts) {
    std::vector<StepError> rows;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        rows.push_back(steps[i].facts);
        rows.back().predicted_ms = 1e3 * forecasts.step_s[i];
        rows.back().known_log_sd = forecasts.constants_log_sd[i];
    }
    return rows;
}

std::vector<StepError> errors_left_out(const std::vector<TrainingStep>& steps, const StepFolds& folds,
                                       const std::string& fact) {
    StepForecasts own;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const StepForecasts& fold = folds.at(value_of(steps[i], fact));
        own.step_s.push_back(fold.step_s[i]);
        own.constants_log_sd.push_back(fold.constants_log_sd[i]);
    }
    std::vector<StepError> rows = errors_of(steps, own);
    for (std::size_t i = 0; fact == "gpu" && i < steps.size(); ++i)
        rows[i].known_log_sd = std::hypot(rows[i].known_log_sd, clock_log_sd(steps[i].measured.work.device));
    std::map<std::string, double> log_sds;
    for (StepError& row : rows) {
        const std::string& value = row.facts.at(fact);
        if (log_sds.count(value) == 0) {
            std::vector<StepError> others;
            std::copy_if(rows.begin(), rows.end(), std::back_inserter(others),
                         [&](const StepError& other) { return other.facts.at(fact) != value; });
            log_sds[value] = log_sd_of(one_a_group(others));
        }
        row.log_sd = std::hypot(log_sds[value], row.known_log_sd);
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
