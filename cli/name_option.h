// SPDX-License-Identifier: GPL-2.0-or-later
// One of a few names on the command line, said as the other options say what would do.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace dlcast {

/// One of `names`; for Option::check.
CLI::Validator one_of(std::vector<std::string> names);

}  // namespace dlcast
