// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast evaluate report`.
#pragma once

#include <CLI/CLI.hpp>

namespace dlcast {

/// Adds the verb to `evaluate`; when it is chosen, `exit_code` is set: 0 done, 1 refused input.
void add_evaluate_report(CLI::App& evaluate, int& exit_code);

}  // namespace dlcast
