// SPDX-License-Identifier: GPL-2.0-or-later
// The layer-time network in tensors: parameters, the time as a formula of its outputs, and training.
#pragma once

#include <ATen/ATen.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "predictor/torch/torch_abi.h"

namespace dlcast {

/// From one kernel of a running stream to the next. Measured rows hardly show it alone, so it is no learnt constant.
inline constexpr double kernel_start_s = 4e-6;

/// Part of a host's launch that a clock around one call counts before the kernel starts; the rest passes beside the
/// kernel.
inline constexpr float launch_before = 0.5f;

/// One multilayer perceptron and the constants learnt beside it.
struct NetParameters {
    static constexpr int layers = 4;
    static constexpr int outputs = 4;  // compute and memory slowness, log scale, host launch
    static constexpr int embedding_width = 6;

    at::Tensor mean, inverse_sd;  // columns: standardisation of the features
    // columns: the range they had in training. Beyond it a network extrapolates wildly, and the physics carries on
    // alone.
    at::Tensor low, high;
    std::array<at::Tensor, layers> weight;  // [out, in]; in of the first is columns + embedding_width
    std::array<at::Tensor, layers> bias;    // [out]; out of the last is `outputs`
    at::Tensor embedding;                   // [groups, embedding_width]
    at::Tensor offset;                      // [groups, 3]: log launch, log compute, log memory
    at::Tensor log_launch;                  // [launch slots]
    at::Tensor group_launch;                // [groups, launch slots]: log, how a host differs from the rest at this one
    at::Tensor log_update;                  // [optimizer slots]
    at::Tensor slowness_min;                // [1]

    /// Calls `visit(name, tensor)` for each tensor, in a fixed order; `trained` says whether training moves it.
    void each(const std::function<void(const char* name, at::Tensor& tensor, bool trained)>& visit);
    /// Throws c10::Error where the shapes do not belong together.
    void check() const;
};

using Member = std::array<NetParameters, DLCAST_TORCH_NETS>;

/// The rows of a table as tensors on the caller's arrays.
struct Rows {
    at::Tensor features, physics, launch, optimizer, group;
};
Rows rows_of(const dlcast_torch_table& table);
/// The rows of `index`, without their features.
Rows select_physics(const Rows& rows, const at::Tensor& index);

struct Prediction {
    at::Tensor log_time, log_scale;                // [rows]
    at::Tensor compute_slowness, memory_slowness;  // [rows]: a and b
};
/// Outputs of the perceptron: a and b (compute and memory slowness), the log scale, and what a host adds to this call's
/// launch, so that no slowness of the kernel has to stand in for it. `known`: [rows, 1], 1 where the group's constants
/// count, 0 where the GPU is to be an unnamed one.
///     main = smooth maximum of exp(log_compute_s + a + off_c) and exp(log_memory_s + b + off_m), of power 3
///     t = b launch + smooth maximum of (1 - b) launch and main, of power 6, where b is launch_before for a host's
///     launch,
///         0 for a kernel's
///     t = launch + main + update, for a session
/// For training. PlainNet (inference.h) computes the same for forecasts; a test of the module compares the two.
Prediction predict(const NetParameters& net, const Rows& rows, const at::Tensor& standardised, const at::Tensor& known);
at::Tensor standardise(const NetParameters& net, const at::Tensor& features);
at::Tensor known_groups(const Rows& rows);

}  // namespace dlcast
