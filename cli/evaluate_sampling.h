// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast evaluate sampling SOURCE TARGET`: guided sampling on two measured tables, and its error where nothing was
// sampled.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/base/value.h"

namespace dlcast {

struct SamplingRequest {
    std::string source, target;        // files
    std::string column;                // what is predicted
    std::vector<std::string> options;  // empty: told by the tables
    std::size_t budget = 0;
    std::uint64_t seed = 1;
};

/// Errors over the predicted configurations, percent of the measured value.
struct SamplingError {
    std::string method;
    std::size_t rows = 0;
    double mape_pct = 0.0, median_ape_pct = 0.0, p90_ape_pct = 0.0;
};

struct SamplingEvaluation {
    std::vector<std::string> names;                         // of all target configurations
    std::vector<std::size_t> chosen;                        // rows that were measured, ascending
    std::vector<double> predicted;                          // one a configuration, of the chosen ones too
    std::vector<std::pair<std::string, double>> differing;  // term, chance that it differs between the machines
    std::vector<SamplingError> errors;  // guided sampling first, then the baselines; empty if nothing else was measured
};

/// Chooses `budget` configurations of the target, reads their values and no others, and predicts all. The rest of the
/// target's values serve the errors alone; cells among them that are no number above zero are left out of these.
/// Errors (invalid_argument, not_found): see sampling_table.h, predictor/sampling/effects.h, choose.h.
Result<SamplingEvaluation> evaluate_sampling(const SamplingRequest& request);

/// Adds the verb to `evaluate`; when it is chosen, `exit_code` is set: 0 done, 1 refused input.
void add_evaluate_sampling(CLI::App& evaluate, int& exit_code);

}  // namespace dlcast
