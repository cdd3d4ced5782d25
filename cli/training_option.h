// SPDX-License-Identifier: GPL-2.0-or-later
// Names of a training on the command line.
#pragma once

#include <CLI/CLI.hpp>

namespace dlcast {

/// A name that precision_from knows; for Option::check.
CLI::Validator precision_name();
/// A name that optimizer_from knows.
CLI::Validator optimizer_name();

}  // namespace dlcast
