// SPDX-License-Identifier: GPL-2.0-or-later
// Is there room for what is about to be measured? A host that runs out of memory kills programs instead of refusing.
#pragma once

#include "predictor/base/result.h"
#include "predictor/model/workload.h"
#include "predictor/step/memory.h"
#include "predictor/timing/operator.h"

namespace dlcast {

inline constexpr double usable_share = 0.9;  // of the free memory

/// Bytes of an operator's tensors, each once: inputs, weights, results, and of attention that is not fused the scores.
double tensor_bytes(const Operator& op, bool fused_attention);

/// A training step of the whole model: weights, gradients, states of the optimizer, activations, as memory.h counts
/// them, in the width of the network's data.
MemoryEstimate step_memory(const ModelSpec& model, const Training& training, bool fused_attention);

/// Such a step in nine tenths of `free_bytes` (0: not told, all fits). unavailable: it does not, with the sizes.
Status check_memory(const ModelSpec& model, const Training& training, double free_bytes, bool fused_attention);

/// An operator with its tensors made up twice (torch_operators.h), and their values in between.
Status check_memory(const Operator& op, double free_bytes, bool fused_attention);

}  // namespace dlcast
