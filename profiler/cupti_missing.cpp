// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/gpu_timer.h"

namespace dlcast {

Result<std::unique_ptr<WorkTimer>> make_cupti_timer() { return unavailable("this build has no CUPTI"); }

}  // namespace dlcast
