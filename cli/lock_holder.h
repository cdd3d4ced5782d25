// SPDX-License-Identifier: GPL-2.0-or-later
// Who holds a lock.
#pragma once

#include <sys/types.h>

#include <optional>

namespace dlcast {

/// The process that took a lock of flock(2) on the file that `handle` has open, from /proc/locks; nothing where the
/// system does not tell (another host's, another container's).
std::optional<pid_t> lock_holder(int handle);

}  // namespace dlcast
