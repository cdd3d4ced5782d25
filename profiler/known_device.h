// SPDX-License-Identifier: GPL-2.0-or-later
// Whether the catalog knows the device that measures.
#pragma once

#include <string>

#include "profiler/open_device.h"

namespace dlcast {

/// Looks the device up in the shipped gpus.toml and in `own_gpus` ("" or a site's file). Where neither has it, it is
/// detected, within about `most_s`, and its entry written to `entry_file`, which also counts as known once it is there.
/// The name of the file that was written comes back, "" where none was. Errors: a broken catalog, a file that cannot be
/// written.
Result<std::string> describe_device(OpenedDevice& device, const std::string& own_gpus, const std::string& entry_file,
                                    double most_s);

/// Of the time that is left of a budget, what the device's own figures may take: a third.
inline constexpr double share_of_figures = 1.0 / 3.0;

}  // namespace dlcast
