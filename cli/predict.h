// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast predict MODEL`: the forecast of a submission, for a person, without Slurm.
#pragma once

#include <CLI/CLI.hpp>

namespace dlcast {

/// Adds the verb to `app`; when it is chosen, `exit_code` is set: 0 done, 1 refused input, 3 does not fit.
void add_predict(CLI::App& app, int& exit_code);

}  // namespace dlcast
