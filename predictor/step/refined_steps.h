// SPDX-License-Identifier: GPL-2.0-or-later
// refined_steps.toml of a weights directory: measured collectives and step factors of a site.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/step/refined_collective.h"
#include "predictor/step/step_factor.h"

namespace dlcast {

inline constexpr const char* refined_steps_file = "refined_steps.toml";

struct RefinedSteps {
    std::vector<RefinedCollective> collectives;
    std::vector<StepFactor> factors;
};

/// Errors: bad TOML, an unknown or missing key, a value out of range.
Result<RefinedSteps> parse_refined_steps(std::string_view text, const std::string& source);
std::string write_refined_steps(const RefinedSteps& refined);

/// `directory`/refined_steps.toml; nothing refined where there is no such file.
Result<RefinedSteps> refined_steps_of(const std::string& directory);

}  // namespace dlcast
