// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/device_constants.h"

#include <algorithm>
#include <cmath>

namespace dlcast {
namespace {

bool is_graphics_ampere(const Device& d) { return d.architecture == "ampere" && d.compute_capability > 8.05; }

// Arithmetic per watt against 12 nm, from the nodes' and generations' published figures: Pascal 16 nm, Turing and Volta
// 12 nm, Ampere 7 nm (graphics 8 nm), Ada and Hopper 4 nm, Blackwell 4 nm with two dies. Graphics boards of Ada sustain
// less on their tensor units.
double process_gain(const Device& d, bool vector) {
    const std::string& a = d.architecture;
    if (a == "pascal" || a == "maxwell" || a == "kepler") return 0.7;
    if (is_graphics_ampere(d)) return 1.2;
    if (a == "ampere") return 1.7;
    if (a == "ada") return vector ? 2.8 : 2.3;
    if (a == "hopper" || a == "cdna3") return 2.8;
    if (a == "blackwell") return 4.2;
    if (a == "cdna1" || a == "cdna2") return 1.6;
    return 1.0;
}

}  // namespace

DeviceConstants device_constants(const Device& d) {
    using K = StepConstant;
    const std::string& a = d.architecture;
    if (a == "volta") return {K::tensor_volta, K::tf32_ampere, K::simt_volta, K::memory_volta};
    if (a == "turing") return {K::tensor_turing, K::tf32_ampere, K::simt_turing, K::memory_turing};
    if (is_graphics_ampere(d))
        return {K::tensor_ampere_graphics, K::tf32_ampere_graphics, K::simt_ampere, K::memory_ampere_graphics};
    if (a == "ampere") return {K::tensor_ampere, K::tf32_ampere, K::simt_ampere, K::memory_ampere};
    if (a == "ada") return {K::tensor_ada, K::tf32_ada, K::simt_ada, K::memory_ada};
    if (a == "hopper") return {K::tensor_hopper, K::tf32_hopper, K::simt_hopper, K::memory_hopper};
    if (a == "blackwell") return {K::tensor_blackwell, K::tf32_hopper, K::simt_hopper, K::memory_blackwell};
    if (a.starts_with("cdna")) return {K::tensor_cdna, K::tf32_hopper, K::simt_cdna, K::memory_cdna};
    return {K::tensor_volta, K::tf32_ampere, K::simt_pascal, K::memory_pascal};
}

bool is_geforce(const Device& d) { return d.product.find("GeForce") != std::string::npos; }

double peak_flops_per_s(const Device& d, ArithmeticUnit unit) {
    switch (unit) {
        case ArithmeticUnit::tf32:
            return d.tf32_flops_per_s;
        case ArithmeticUnit::half:
            return std::max(d.bf16_flops_per_s, d.fp16_flops_per_s);
        case ArithmeticUnit::fp8:
            return d.fp8_flops_per_s;
        default:
            return std::max(d.fp32_matrix_flops_per_s, d.fp32_flops_per_s);
    }
}

double clock_log_sd(const Device& d) {
    constexpr double per_shortfall = 0.25;  // from what T4 and L4 vary by
    const double peak = peak_flops_per_s(d, ArithmeticUnit::simt);
    const std::size_t rate = static_cast<std::size_t>(StepConstant::simt_tflops_per_w);
    const double fed = fed_flops_per_w_s(d, ArithmeticUnit::simt) * constant_facts()[rate].prior;
    return peak > fed ? per_shortfall * std::log(peak / fed) : 0.0;
}

double fed_flops_per_w_s(const Device& d, ArithmeticUnit unit) {
    // DRAM access costs 4 (HBM) to 7 pJ a bit (O'Connor et al., MICRO 2017).
    constexpr double joules_per_byte = 40e-12, idle_w = 8.0, least_share = 0.3;
    // The vector and fp16 rates of a board that states no power stand as they are.
    if (d.tdp_w <= 0) return 1e30;
    const double left_w = std::max(least_share * d.tdp_w, d.tdp_w - idle_w - joules_per_byte * d.memory_bandwidth_Bps);
    const double format = unit == ArithmeticUnit::tf32 ? 0.5 : unit == ArithmeticUnit::fp8 ? 2.0 : 1.0;
    return left_w * process_gain(d, unit == ArithmeticUnit::simt) * format * 1e12;
}

}  // namespace dlcast
