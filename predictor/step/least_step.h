// SPDX-License-Identifier: GPL-2.0-or-later
// The least time in which a GPU can run a step at all.
#pragma once

#include "predictor/step/step_work.h"

namespace dlcast {

/// Seconds of the step's products, one after the other, as least_arithmetic_s (least_time.h) has each. Traffic and
/// messages are left aside: caches, compilers and overlap may hide them.
double least_step_s(const StepWork& work);

}  // namespace dlcast
