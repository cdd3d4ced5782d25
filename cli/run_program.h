// SPDX-License-Identifier: GPL-2.0-or-later
// Runs another program and reads what it prints. No shell: arguments go as they are.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "predictor/base/result.h"

namespace dlcast {

/// Standard output of `arguments[0]`, found in PATH, once it has ended with 0; its stderr is ours. Errors
/// (unavailable): not found, another exit code, no end within `patience` (it is then killed), more than 256 MiB of
/// output.
Result<std::string> run_program(const std::vector<std::string>& arguments, std::chrono::milliseconds patience);

}  // namespace dlcast
