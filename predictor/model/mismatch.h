// SPDX-License-Identifier: GPL-2.0-or-later
// What a declaration says that its own model or data set cannot use.
#pragma once

#include <string>
#include <vector>

#include "predictor/model/training.h"

namespace dlcast {

/// A sentence for each: text for a model of images and images for one of text, a size that the model has no use for,
/// images too small for a network that halves them, other sizes than those that layers are written for, degrees of
/// parallelism without a use, validation of unknown size. `w` is complete but for its warnings.
std::vector<std::string> find_mismatches(const TrainingRead& read, const Workload& w);

}  // namespace dlcast
