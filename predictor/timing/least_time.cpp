// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/timing/least_time.h"

#include <algorithm>

#include "predictor/timing/physics.h"

namespace dlcast {
namespace {

constexpr double winograd_saving = 4.0;

// The fastest unit that may serve the precision, with all wider ones; 0 where the entry lacks its figure.
double peak_flops_per_s(const Device& d, Precision precision) {
    const double fp32 = std::max(d.fp32_flops_per_s, d.fp32_matrix_flops_per_s);
    const double half = std::max(d.fp16_flops_per_s, d.bf16_flops_per_s);
    const double own = precision == Precision::fp32   ? fp32
                       : precision == Precision::tf32 ? d.tf32_flops_per_s
                       : precision == Precision::fp8  ? d.fp8_flops_per_s
                                                      : half;
    return own > 0.0 ? std::max(own, fp32) : 0.0;
}

bool has_window(const Operator& op) {
    return op.kind == OperatorKind::conv2d && std::max(op.kernel_h, op.kernel_w) > 1;
}

}  // namespace

double least_arithmetic_s(const Device& device, const Operator& op) {
    const double peak = peak_flops_per_s(device, op.precision);
    const double flops = total_flops(op) / (has_window(op) ? winograd_saving : 1.0);
    return peak > 0.0 ? flops / peak : 0.0;
}

double least_call_s(const Device& device, const Operator& op) {
    const double beyond_cache = std::max(0.0, total_bytes(op) - device.l2_bytes);
    const double memory_s = device.memory_bandwidth_Bps > 0.0 ? beyond_cache / device.memory_bandwidth_Bps : 0.0;
    return std::max(least_arithmetic_s(device, op), memory_s);
}

}  // namespace dlcast
