// SPDX-License-Identifier: GPL-2.0-or-later
// The operators that have measured rows, numbered: flags of the memory network, and launch constants of all three.
#pragma once

#include <array>

#include "predictor/timing/operator.h"

namespace dlcast {

enum class OperatorSlot {
    add,
    mul,
    div,
    pow,
    add_scalar,
    mul_scalar,
    div_scalar,
    pow_scalar,
    relu,
    gelu,
    tanh,
    softmax,
    layer_norm,
    embedding,
    dropout,
    linear,
    bmm,
    conv2d,
};

/// The memory-bound ones, in order from 0.
inline constexpr std::array memory_slot_names{"add",        "mul",        "div",        "pow",       "add_scalar",
                                              "mul_scalar", "div_scalar", "pow_scalar", "relu",      "gelu",
                                              "tanh",       "softmax",    "layer_norm", "embedding", "dropout"};

/// An operator without rows of its own behaves as the measured one with the same access pattern.
OperatorSlot operator_slot(const Operator& op);

}  // namespace dlcast
