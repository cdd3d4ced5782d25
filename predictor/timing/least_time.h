// SPDX-License-Identifier: GPL-2.0-or-later
// The least time in which a device can run a call at all: what is measured below it is a mistake of the measurement, or
// of the device's figures.
#pragma once

#include "predictor/device/device.h"
#include "predictor/timing/operator.h"

namespace dlcast {

/// Seconds at the peak figures of the device's entry, of dense arithmetic at the operator's precision and of the bytes
/// that its last cache cannot hold:
///     max(flops / (4 for convolutions with windows, else 1) / peak, (bytes - cache) / bandwidth)
/// A fast convolution multiplies a quarter as often (Winograd's F(4x4, 3x3); Lavin & Gray, CVPR 2016). 0 where the
/// entry has no figure that binds.
double least_call_s(const Device& device, const Operator& op);
/// The first of the two alone: what calls of one step cannot share, whatever their caches keep and compilers join.
double least_arithmetic_s(const Device& device, const Operator& op);

/// A time is impossible below 1 / peak_tolerance of the least: boards clock above their sheet, a CPU's figures are
/// measured ones. The fastest of 514,346 public rows of operators takes 0.88 of the least.
inline constexpr double peak_tolerance = 2.0;

}  // namespace dlcast
