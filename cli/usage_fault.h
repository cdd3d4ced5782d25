// SPDX-License-Identifier: GPL-2.0-or-later
// What is wrong with a command line, in words: CLI11's own name neither the verb nor what would do.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace dlcast {

/// "dlcast evaluate ops".
std::string full_name(const CLI::App& verb);

/// The fault of a call of `verb`, with the option and the remedy.
std::string usage_fault(const CLI::App& verb, const CLI::ParseError& fault);

}  // namespace dlcast
