// SPDX-License-Identifier: GPL-2.0-or-later
// One GPU type, by its physical figures only: what a forecast may know of a GPU it never saw.
#pragma once

#include <string>

namespace dlcast {

/// Arithmetic of a training step. amp = fp16 autocast with fp32 weights; fp16 = fp16 weights with an fp32 master copy.
enum class Precision { fp32, tf32, amp, fp16, bf16, fp8 };

const char* to_string(Precision precision);

/// One device as the driver counts it (a K80 or MI250 board is two). All figures from the data sheet, dense (no
/// sparsity), at boost clock; 0 = the device has no such unit. Provenance stands in etc/gpus.toml.
struct Device {
    std::string name;          // catalog key: A100-SXM4-80GB
    std::string product;       // as sold: A100 80GB SXM4
    std::string vendor;        // nvidia, amd, cpu
    std::string architecture;  // kepler .. blackwell, cdna1 .. cdna3
    double compute_capability = 0.0;
    int sm_count = 0;  // streaming multiprocessors or compute units
    double boost_clock_Hz = 0.0;
    double memory_bytes = 0.0;
    double memory_bandwidth_Bps = 0.0;
    double l2_bytes = 0.0;
    double tdp_w = 0.0;
    double fp32_flops_per_s = 0.0;         // vector (SIMT) units
    double fp32_matrix_flops_per_s = 0.0;  // matrix units on fp32 data (AMD CDNA)
    double tf32_flops_per_s = 0.0;
    double fp16_flops_per_s = 0.0;  // tensor units with fp32 accumulation; without them the fp16 vector rate
    double bf16_flops_per_s = 0.0;
    double fp8_flops_per_s = 0.0;
    std::string link;  // to its neighbours: pcie3, nvlink3, xgmi ...
    int year = 0;
    bool is_slice = false;  // a MIG instance

    bool operator==(const Device&) const = default;
};

}  // namespace dlcast
