// SPDX-License-Identifier: GPL-2.0-or-later
// The verbs that show and write a model's description.
#pragma once

#include "cli/commands.h"

namespace dlcast {

void add_explain(CLI::App& app, int& exit_code);
void add_import(CLI::App& app, int& exit_code);

}  // namespace dlcast
