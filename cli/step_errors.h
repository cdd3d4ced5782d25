// SPDX-License-Identifier: GPL-2.0-or-later
// Errors of step forecasts, one value for each group of repeated rows.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "predictor/base/value.h"

namespace dlcast {

/// A training run among others of its set-up.
struct StepRun {
    std::string setup;  // all but the GPU count; empty: no training
    int gpus = 1, nodes = 1;
    double samples = 0.0;  // of a step, all GPUs
};

struct StepError {
    std::string group;                         // rows of one set-up, repeated on other machines
    std::map<std::string, std::string> facts;  // source, precision, ... of the row
    double measured_ms = 0.0;
    double predicted_ms = 0.0;  // 0: the row could not be described; 100 % error
    double log_sd = 0.0;        // of the forecast
    double known_log_sd = 0.0;  // of that, what does not come from others' errors: of constants, and of clocks
    StepRun run{};
};

struct StepFigures {
    std::size_t cases = 0;
    double mape_pct = 0.0, median_ape_pct = 0.0, p90_ape_pct = 0.0;
    double bias_pct = 0.0;                    // median of (predicted - measured) / measured
    double coverage_pct = 0.0;                // cases whose 90 % interval holds the measured value
    double below_pct = 0.0, above_pct = 0.0;  // cases measured below it (5 % are meant to be), above it
};

/// Medians of measured and predicted times within each group; the first row's facts and spread stand for the group.
std::vector<StepError> one_a_group(const std::vector<StepError>& rows);

StepFigures step_figures(const std::vector<StepError>& cases);

/// Figures by the values of each fact.
using StepFigureTable = std::map<std::string, std::map<std::string, StepFigures>>;
StepFigureTable step_figures_by(const std::vector<StepError>& cases, const std::vector<std::string>& facts);

std::string to_text(const StepFigures& all, const StepFigureTable& by);
/// {"rows","mape_pct","median_ape_pct","p90_ape_pct","bias_pct","coverage_90_pct","below_p05_pct","above_p95_pct",
/// "by":{fact:{value:{..}}}}
Value to_value(const StepFigures& all, const StepFigureTable& by);

}  // namespace dlcast
