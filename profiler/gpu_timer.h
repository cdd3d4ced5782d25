// SPDX-License-Identifier: GPL-2.0-or-later
// Busy time of a GPU.
#pragma once

#include "predictor/base/result.h"
#include "profiler/work_timer.h"

namespace dlcast {

/// CUDA events before and after the work in the default stream. The device is kept busy first, so that the host is
/// ahead of it and the launch of the work is not in the time.
std::unique_ptr<WorkTimer> make_event_timer();

/// The union of the kernels, copies and fills that CUPTI records for the work: those whose launches carry its external
/// correlation id. unavailable: this build has no CUPTI, or this user may not use it.
Result<std::unique_ptr<WorkTimer>> make_cupti_timer();

/// CUPTI's, else by events, which is said once on stderr with the reason.
std::unique_ptr<WorkTimer> make_gpu_timer();

}  // namespace dlcast
