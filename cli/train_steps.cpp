// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/train_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "cli/validate_steps.h"
#include "predictor/base/text.h"

namespace dlcast {
namespace {

StepHeldOut figures_of(const std::string& left_out, const std::vector<StepError>& cases) {
    const StepFigures f = step_figures(cases);
    return {left_out, static_cast<std::int64_t>(f.cases), f.mape_pct, f.median_ape_pct, f.p90_ape_pct};
}

void add_provenance(StepWeights& weights, const std::vector<TrainingStep>& steps) {
    std::set<std::string> gpus, families;
    std::map<std::string, std::int64_t> sources;
    for (const TrainingStep& step : steps) {
        gpus.insert(step.measured.work.device.name);
        families.insert(step.model_family);
        ++sources[step.facts.facts.at("source")];
    }
    weights.gpus.assign(gpus.begin(), gpus.end());
    weights.families.assign(families.begin(), families.end());
    for (const auto& [name, rows] : sources) weights.sources.push_back({name, rows});
}

std::vector<StepError> with_one_measured_each(const std::vector<TrainingStep>& steps, const StepFolds& folds,
                                              const std::string& fact, const std::vector<StepError>& plain) {
    std::vector<StepError> out;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const auto corrected = with_one_measured(steps, folds, fact, i);
        if (!corrected) continue;
        out.push_back(plain[i]);
        out.back().predicted_ms *= corrected->factor;
    }
    return out;
}

Status validate(StepWeights& weights, const std::vector<TrainingStep>& steps) {
    for (const auto& [fact, spread] : {std::pair{"gpu", &weights.spread.unseen_gpu_log_sd},
                                       std::pair{"super-family", &weights.spread.unseen_model_log_sd}}) {
        const auto folds = validate_steps(steps, fact, "");
        if (!folds) return folds.error();
        const std::vector<StepError> rows = errors_left_out(steps, *folds, fact);
        *spread = std::max(weights.spread.seen_log_sd, log_sd_of(one_a_group(rows)));
        weights.held_out.push_back(figures_of(fact, one_a_group(rows)));
        weights.held_out.push_back(figures_of(fmt::format("{}, one step measured", fact),
                                              one_a_group(with_one_measured_each(steps, *folds, fact, rows))));
    }
    return ok();
}

}  // namespace

Result<StepWeights> train_steps(const TrainStepsOptions& options, const DeviceCatalog& catalog) {
    const auto read = read_training_steps(options.files, catalog, options.exclusions, options.collectives);
    if (!read) return read.error();
    for (const std::string& line : read->undescribed) fmt::print(stderr, "dlcast: not described: {}\n", line);
    const std::vector<TrainingStep>& steps = read->steps;
    if (steps.empty())
        return invalid_argument("no step to learn from: each needs a known model, a known GPU and step_ms");
    StepWeights weights;
    const StepFit fit = fit_where(steps, [](const TrainingStep&) { return true; });
    weights.coefficients = fit.coefficients;
    weights.deviations = fit.deviations;
    weights.spread.seen_log_sd = log_sd_of(one_a_group(errors_of(steps, forecasts_of(steps, fit))));
    if (options.validate)
        if (auto status = validate(weights, steps); !status) return status.error();
    add_provenance(weights, steps);
    std::error_code failed;
    std::filesystem::create_directories(options.out, failed);
    const std::string path = options.out + "/" + step_weights_file;
    if (failed) return invalid_argument(fmt::format("cannot write '{}': {}", path, failed.message()));
    if (auto status = write_file_atomically(path, write_step_weights(weights)); !status) return status.error();
    return weights;
}

}  // namespace dlcast
