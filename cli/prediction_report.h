// SPDX-License-Identifier: GPL-2.0-or-later
// A prediction as scripts read it and as a person does.
#pragma once

#include <string>

#include "cli/prediction.h"
#include "cli/remedies.h"
#include "predictor/base/value.h"

namespace dlcast {

bool fits(const Prediction& prediction);

/// {"model","gpu","gpus","nodes","partition","step":{..},"samples_per_s","memory_bytes","memory":{..},
/// "batch_size","samples_per_step","precision","steps","fits","walltime","gpu_hours","job":{..},"assumed",
/// "warnings","remedies":[..],"anchored","least_certain","by","weights"}; steps, walltime, gpu_hours and job are null
/// without a duration, partition without a cluster. `layers` adds the list of layers: one micro-step on one GPU each.
Value to_value(const Prediction& prediction, bool layers, const std::vector<Remedy>& remedies = {});

/// A short page: the parts of a step, memory, the job, and what would fit.
std::string to_text(const Prediction& prediction, bool layers, const std::vector<Remedy>& remedies = {});

}  // namespace dlcast
