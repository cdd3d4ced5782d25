// SPDX-License-Identifier: GPL-2.0-or-later
// Gradients of data ranks, in the messages that the software makes of them.
#pragma once

#include <vector>

#include "predictor/step/step_exchange.h"

namespace dlcast {

/// Last layer first. A bucket is sent when it is full; a layer stays whole. A layer's share of backward is the
/// roofline's. Expert layers are reduced among the data ranks that hold the same experts.
std::vector<GradientBucket> gradient_buckets(const ExchangeQuery& query, const MessageTimes& times);

}  // namespace dlcast
