// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/timing/physics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace dlcast {
namespace {

// What one process generation sustains. Watts at which a vector unit runs 1 TFLOPS of fp32 (0: the board feeds its
// peak) and, for dense half-precision products, TFLOPS a watt feeds the tensor units and the fraction of the rest that
// large products reach. Fitted on public operator times and whole steps; T4, P4 and L4 are the boards that power
// limits.
struct Generation {
    std::string_view architecture;
    double simt_w_per_tflops;
    double tensor_tflops_per_w;
    double tensor_attained;
};
constexpr std::array<Generation, 12> generations{{
    {"kepler", 0.0, 0.0, 0.0},
    {"maxwell", 0.0, 0.0, 0.0},
    {"pascal", 17.5, 0.0, 0.0},
    {"volta", 17.5, 0.48, 0.55},
    {"turing", 17.5, 0.48, 0.40},
    {"ampere", 11.0, 0.82, 0.78},
    {"ada", 6.2, 1.35, 0.62},
    {"hopper", 6.2, 1.35, 0.68},
    {"blackwell", 4.2, 2.00, 0.60},
    {"cdna1", 8.0, 0.77, 0.50},
    {"cdna2", 8.0, 0.77, 0.50},
    {"cdna3", 4.5, 1.35, 0.50},
}};

// The A100's chip is made in another process than the rest of its generation: at 250 W its best products stop at 17.0
// of 19.5 TFLOPS.
constexpr double ga100_simt_w_per_tflops = 14.0;

Generation generation(const Device& device) {
    for (Generation g : generations) {
        if (g.architecture != device.architecture) continue;
        if (device.compute_capability == 8.0) g.simt_w_per_tflops = ga100_simt_w_per_tflops;
        return g;
    }
    return {"", 0.0, 0.0, 0.60};  // a newer one: take the sheet's peak at its word, tensor units as usual
}

bool uses_matrix_units(const Operator& op) {
    // Grouped and depthwise kernels run on the vector units.
    return is_product(op) && (op.kind != OperatorKind::conv2d || op.groups == 1);
}

// Tensor-unit peak of a precision and its rate against half precision; nothing where the device has no such unit.
struct TensorUnit {
    double flops_per_s = 0.0;
    double against_half = 1.0;
    double attained = 1.0;  // of what half precision reaches
};
TensorUnit tensor_unit(const Device& device, const Operator& op) {
    const bool has_units = device.vendor == "amd" || device.compute_capability >= 7.0;
    if (!has_units || !uses_matrix_units(op)) return {};
    switch (op.precision) {
        case Precision::tf32:
            return {device.tf32_flops_per_s, 0.5, 0.85};
        case Precision::fp8:
            // Only linear layers have fp8 kernels; the rest stays in bf16.
            if (op.kind == OperatorKind::linear && device.fp8_flops_per_s > 0.0)
                return {device.fp8_flops_per_s, 2.0, 0.9};
            [[fallthrough]];
        case Precision::bf16:
            return {device.bf16_flops_per_s, 1.0, 1.0};
        case Precision::amp:
        case Precision::fp16:
            return {device.fp16_flops_per_s, 1.0, 1.0};
        case Precision::fp32:
            break;
    }
    return {};
}

double power_limited(double peak, double fed) { return fed > 0.0 ? std::min(peak, fed) : peak; }

// Products in one call, against the forward one. Other operators state the traffic of their phase themselves.
double products(const Operator& op) {
    if (op.phase == Phase::train_step) return 3.0;
    if (op.phase == Phase::backward && op.kind == OperatorKind::attention) return 2.5;  // recomputes the scores
    return op.phase == Phase::backward && is_product(op) ? 2.0 : 1.0;
}

}  // namespace

bool is_product(const Operator& op) {
    return op.kind == OperatorKind::conv2d || op.kind == OperatorKind::linear || op.kind == OperatorKind::bmm ||
           op.kind == OperatorKind::attention || op.kind == OperatorKind::recurrent;
}

bool on_tensor_units(const Device& device, const Operator& op) { return tensor_unit(device, op).flops_per_s > 0.0; }

double sustained_flops_per_s(const Device& device, const Operator& op) {
    const Generation g = generation(device);
    if (const TensorUnit unit = tensor_unit(device, op); unit.flops_per_s > 0.0) {
        const double fed = g.tensor_tflops_per_w * 1e12 * device.tdp_w * unit.against_half;
        return power_limited(unit.flops_per_s, fed) * g.tensor_attained * unit.attained;
    }
    const double peak = uses_matrix_units(op) && device.fp32_matrix_flops_per_s > 0.0 ? device.fp32_matrix_flops_per_s
                                                                                      : device.fp32_flops_per_s;
    const double fed = g.simt_w_per_tflops > 0.0 ? device.tdp_w / g.simt_w_per_tflops * 1e12 : 0.0;
    return power_limited(peak, fed);
}

double total_flops(const Operator& op) {
    Operator forward = op;
    forward.phase = Phase::forward;
    return is_product(op) ? products(op) * flops(forward) : flops(op);
}

double total_bytes(const Operator& op) {
    if (!is_product(op)) return bytes(op);
    Operator forward = op;
    forward.phase = Phase::forward;
    return products(op) * bytes(forward);
}

Bounds bounds(const Device& device, const Operator& op) {
    return {total_flops(op) / sustained_flops_per_s(device, op), total_bytes(op) / device.memory_bandwidth_Bps};
}

double roofline_s(const Device& device, const Operator& op) {
    const Bounds b = bounds(device, op);
    return std::max(b.compute_s, b.memory_s);
}

double smooth_maximum(double x, double y, double power) {
    const double large = std::max(x, y);
    if (large <= 0.0) return 0.0;
    return large * std::pow(1.0 + std::pow(std::min(x, y) / large, power), 1.0 / power);
}

}  // namespace dlcast
