// SPDX-License-Identifier: GPL-2.0-or-later
// Times side by side, as a person compares them.
#pragma once

#include <string>
#include <vector>

namespace dlcast {

/// Each in the same unit, seconds or minutes, where the shortest would stand in it and the longest is below 600 of it:
/// {"73 s", "113 s"}; otherwise as format_duration has them.
std::vector<std::string> format_durations(const std::vector<double>& seconds);

}  // namespace dlcast
