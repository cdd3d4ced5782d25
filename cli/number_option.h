// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers on the command line: checked before CLI11 converts them, so that messages say what would do.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>

namespace dlcast {

/// A whole number from `min` to `max`, also written as 1e6 or 1.5e3; for Option::transform, as it rewrites those.
CLI::Validator whole_number(std::int64_t min, std::int64_t max);

constexpr std::int64_t largest_seed = std::int64_t{1} << 53;  // what a double, and so JSON, holds exactly

/// A number from `min` to `max`; for Option::check.
CLI::Validator number_between(double min, double max);

}  // namespace dlcast
