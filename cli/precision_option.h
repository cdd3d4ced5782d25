// SPDX-License-Identifier: GPL-2.0-or-later
// Precisions on the command line.
#pragma once

#include <CLI/CLI.hpp>

namespace dlcast {

/// A name that precision_from knows; for Option::check.
CLI::Validator precision_name();

}  // namespace dlcast
