// SPDX-License-Identifier: GPL-2.0-or-later
// What the hardware alone says about an operator's time: arithmetic and traffic over what a device sustains.
#pragma once

#include "predictor/device/device.h"
#include "predictor/timing/operator.h"

namespace dlcast {

/// Arithmetic rate that the best kernels of this operator reach on this device for long, in FLOP/s: the data-sheet peak
/// of the unit that computes it (vector units, matrix units on fp32 data, tensor units), lowered to what the board's
/// power feeds. A 70 W T4 computes fp32 at 4.0 of its 8.1 TFLOPS. A precision the device lacks runs on the next wider
/// one.
double sustained_flops_per_s(const Device& device, const Operator& op);

/// Is it products of matrices: a convolution, linear layer, attention or recurrent layer?
bool is_product(const Operator& op);

/// Does this operator run on tensor units there (half, tf32 or fp8 data on a device that has them)?
bool on_tensor_units(const Device& device, const Operator& op);

/// Arithmetic and traffic of the whole call: a backward pass of a product is two products, a training step three.
double total_flops(const Operator& op);
double total_bytes(const Operator& op);

/// Seconds of arithmetic at the sustained rate, and of traffic at the data-sheet bandwidth.
struct Bounds {
    double compute_s = 0.0;
    double memory_s = 0.0;
};
Bounds bounds(const Device& device, const Operator& op);

/// max(bounds), the roofline: the baseline every forecast is shown beside.
/// Source: Williams, Waterman & Patterson, Commun. ACM 52 (2009) 65-76.
double roofline_s(const Device& device, const Operator& op);

/// (x^p + y^p)^(1/p): the larger of two positive times, somewhat more where they are alike because both limits then
/// bite.
double smooth_maximum(double x, double y, double power);

}  // namespace dlcast
