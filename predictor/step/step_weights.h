// SPDX-License-Identifier: GPL-2.0-or-later
// steps.toml of a weights directory: the fitted constants of the step-time model, how far its forecasts spread, and
// what they were fitted to.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/device/device.h"
#include "predictor/step/refined_steps.h"
#include "predictor/step/shipped_collectives.h"
#include "predictor/step/step_coefficients.h"

namespace dlcast {

inline constexpr const char* step_weights_file = "steps.toml";
inline constexpr const char* collectives_file = "collectives.toml";

/// Standard deviations of log(measured / forecast) besides what the constants leave open, by what the fit has seen:
/// from its own residuals, and from refits that leave a GPU or a kind of model out.
struct StepSpread {
    double seen_log_sd = 0.08;
    double unseen_gpu_log_sd = 0.10;  // besides what the clocks of boards short of power add
    double unseen_model_log_sd = 0.10;
};

struct StepSource {
    std::string name;
    std::int64_t rows = 0;
};

/// Errors on cases that were left out, in per cent.
struct StepHeldOut {
    std::string left_out;  // "gpu", "super-family"
    std::int64_t cases = 0;
    double mape_pct = 0.0, median_ape_pct = 0.0, p90_ape_pct = 0.0;
};

struct StepWeights {
    StepCoefficients coefficients = prior_coefficients();
    StepCoefficients deviations = prior_deviations();       // how far each may be off, on the fitting scale
    FittedCollectives collectives = shipped_collectives();  // of collectives.toml beside steps.toml, where there is one
    std::vector<StepFactor> factors;                        // of the site, from refined_steps.toml
    StepSpread spread;
    std::vector<std::string> gpus, families;  // that the fit has seen: catalog keys; ModelSpec::family
    std::vector<StepSource> sources;
    std::vector<StepHeldOut> held_out;

    /// Of a forecast for this GPU and kind of model; `constants_log_sd` of step_doubt.h is a part of it.
    double log_sd(const Device& device, std::string_view family, double constants_log_sd) const;
};

/// Errors: bad TOML, an unknown, missing or repeated constant, a value out of range.
Result<StepWeights> parse_step_weights(std::string_view text, const std::string& source);
std::string write_step_weights(const StepWeights& weights);

/// `directory`/collectives.toml; the shipped constants where there is no such file.
Result<FittedCollectives> collectives_of(const std::string& directory);

/// `directory`/steps.toml, the priors where there is no such file; its collectives, and what a site refined.
Result<StepWeights> read_step_weights(const std::string& directory);

}  // namespace dlcast
