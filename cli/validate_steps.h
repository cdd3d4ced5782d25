// SPDX-License-Identifier: GPL-2.0-or-later
// Cross-validation of the step-time model: each fold leaves one value of a fact out and fits again from the priors.
#pragma once

#include <string>
#include <vector>

#include "cli/training_steps.h"

namespace dlcast {

/// Forecasts for `steps`, in order, each by a fit that saw no step with the same value of `fact` ("gpu", "family",
/// "super-family", "source"). A line a fold goes to stderr. `state_file` (none where empty) keeps finished folds: a run
/// that was stopped goes on behind them, unless the table or the model changed. Errors: an unwritable state file.
Result<std::vector<double>> validate_steps(const std::vector<TrainingStep>& steps, const std::string& fact,
                                           const std::string& state_file);

struct OneMeasured {
    std::vector<double> forecast_s;
    std::vector<bool> corrected;  // false: no such step was measured on another GPU
    /// Of `rows`, one for each forecast, those that were corrected.
    std::vector<StepError> of_corrected(const std::vector<StepError>& rows) const;
};

/// `forecast_s`, each corrected as if one step of the same source, family, framework, precision and mode on another GPU
/// had been declared: the one nearest in GPUs, micro-batch, micro-steps, sequence length and generation of GPU.
/// `known_kinds`: the fit saw other steps of the family.
OneMeasured with_one_measured(const std::vector<TrainingStep>& steps, const std::vector<double>& forecast_s,
                              bool known_kinds);

/// The standard deviation of log time, besides that of the rows' clocks, with which 90 % of the rows lie inside a
/// forecast's 90 % interval; 0 for none.
double log_sd_of(const std::vector<StepError>& rows);

/// Forecasts and their errors, in order. Where `fact` is named, a row's interval comes from the errors of all rows with
/// another value of it.
std::vector<StepError> errors_of(const std::vector<TrainingStep>& steps, const std::vector<double>& forecast_s,
                                 const std::string& fact = "");

/// Mean over families of their median error, in per cent.
double mean_family_median(const std::vector<StepError>& cases);

}  // namespace dlcast
