// SPDX-License-Identifier: GPL-2.0-or-later
// Cross-validation of the step-time model: each fold leaves one value of a fact out and fits again from the priors.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/training_steps.h"

namespace dlcast {

/// Of all steps, in their order, by one fit.
struct StepForecasts {
    std::vector<double> step_s, constants_log_sd;  // see step_doubt.h
};
StepForecasts forecasts_of(const std::vector<TrainingStep>& steps, const StepFit& fit);

/// By the value that a fit left out: also of the steps that it saw.
using StepFolds = std::map<std::string, StepForecasts>;

/// Fits once without each value of `fact` ("gpu", "family", "super-family", "source"). A line a fold goes to stderr.
/// `state_file` (none where empty) keeps finished folds: a run that was stopped goes on behind them, unless the table
/// or the model changed. Errors: an unwritable state file.
Result<StepFolds> validate_steps(const std::vector<TrainingStep>& steps, const std::string& fact,
                                 const std::string& state_file);

/// What steps[i]'s forecast, by the fit that left it out, gains if one step of the same source, family, framework,
/// precision and mode on another GPU is declared, measured: the one whose error goes most with its own. That GPU is
/// known to the fit unless it is left out with steps[i]. None: no such step was measured.
std::optional<AnchorCorrection> with_one_measured(const std::vector<TrainingStep>& steps, const StepFolds& folds,
                                                  const std::string& fact, std::size_t i);

/// The standard deviation of log time, besides that which the cases know of, with which 90 % of the cases lie inside a
/// forecast's 90 % interval; 0 for none.
double log_sd_of(const std::vector<StepError>& cases);

/// Forecasts of one fit and their errors, in order; log_sd is not set.
std::vector<StepError> errors_of(const std::vector<TrainingStep>& steps, const StepForecasts& forecasts);

/// Each step's forecast by the fit that left it out; the spread besides what is known comes from the errors of all
/// steps with another value of `fact`.
std::vector<StepError> errors_left_out(const std::vector<TrainingStep>& steps, const StepFolds& folds,
                                       const std::string& fact);

/// Mean over families of their median error, in per cent.
double mean_family_median(const std::vector<StepError>& cases);

}  // namespace dlcast
