// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

namespace dlcast {

/// Seconds since this process was started, the loading of its libraries included; 0 where /proc does not tell.
double process_age_s();

}  // namespace dlcast
