// SPDX-License-Identifier: GPL-2.0-or-later
// A scaling as a table, as a picture, and as scripts read it.
#pragma once

#include <string>

#include "cli/scaling.h"
#include "predictor/base/value.h"

namespace dlcast {

std::string to_text(const Scaling& scaling);

/// Three panels over the GPU count: time, efficiency, GPU-hours; the knee ringed, hollow what does not fit.
std::string to_svg(const Scaling& scaling);

/// {"model","batch_kept":"global"|"per_gpu","time_of":"job"|"million_samples","curves":[{"name","partition","gpu",
/// "knee_gpus","points":[{"gpus","nodes","samples_per_step","step_ms","samples_per_s","efficiency","time_s","p95_s",
/// "gpu_hours","node_hours","cost","memory_bytes","fits"}]}],"fastest":{..},"cheapest":{..},"left_out","assumed","warnings"};
/// fastest and cheapest are null where nothing fits, knee_gpus where every step pays.
Value to_value(const Scaling& scaling);

}  // namespace dlcast
