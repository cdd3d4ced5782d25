// SPDX-License-Identifier: GPL-2.0-or-later
// Samples of one forward pass of one replica of the model.
#pragma once

#include <cstdint>

#include "predictor/base/result.h"
#include "predictor/model/workload.h"
#include "predictor/step/layout.h"

namespace dlcast {

/// The batch size as declared, or a global batch over data ranks and micro-steps, or the micro-batch declared beside
/// it. Errors: no batch size; a global batch that does not divide, with the nearest that do.
Result<std::int64_t> micro_batch_of(const Training& training, const Layout& layout);

/// Micro-steps to an optimizer step, at least 1: as declared, or as many as a micro-batch of each data rank needs to
/// make the global batch.
std::int64_t micro_steps_of(const Training& training, const Layout& layout);

}  // namespace dlcast
