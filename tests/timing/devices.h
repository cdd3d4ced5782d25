// SPDX-License-Identifier: GPL-2.0-or-later
// Data-sheet figures of a few GPUs, for tests.
#pragma once

#include "predictor/device/device.h"

namespace dlcast::test {

inline Device v100() {
    Device d;
    d.name = "V100-PCIE-32GB";
    d.vendor = "nvidia";
    d.architecture = "volta";
    d.compute_capability = 7.0;
    d.sm_count = 80;
    d.boost_clock_Hz = 1380e6;
    d.memory_bytes = 32e9;
    d.memory_bandwidth_Bps = 900e9;
    d.l2_bytes = 6.0 * 1024 * 1024;
    d.tdp_w = 250;
    d.fp32_flops_per_s = 14.13e12;
    d.fp16_flops_per_s = 112e12;
    return d;
}

inline Device t4() {
    Device d;
    d.name = "T4";
    d.vendor = "nvidia";
    d.architecture = "turing";
    d.compute_capability = 7.5;
    d.sm_count = 40;
    d.boost_clock_Hz = 1590e6;
    d.memory_bytes = 16e9;
    d.memory_bandwidth_Bps = 320e9;
    d.l2_bytes = 4.0 * 1024 * 1024;
    d.tdp_w = 70;
    d.fp32_flops_per_s = 8.14e12;
    d.fp16_flops_per_s = 65e12;
    return d;
}

inline Device h100() {
    Device d;
    d.name = "H100-SXM5-80GB";
    d.vendor = "nvidia";
    d.architecture = "hopper";
    d.compute_capability = 9.0;
    d.sm_count = 132;
    d.boost_clock_Hz = 1980e6;
    d.memory_bytes = 80e9;
    d.memory_bandwidth_Bps = 3350e9;
    d.l2_bytes = 50.0 * 1024 * 1024;
    d.tdp_w = 700;
    d.fp32_flops_per_s = 66.9e12;
    d.tf32_flops_per_s = 494.7e12;
    d.fp16_flops_per_s = 989.4e12;
    d.bf16_flops_per_s = 989.4e12;
    d.fp8_flops_per_s = 1978.9e12;
    return d;
}

inline Device mi210() {
    Device d;
    d.name = "MI210";
    d.vendor = "amd";
    d.architecture = "cdna2";
    d.sm_count = 104;
    d.boost_clock_Hz = 1700e6;
    d.memory_bytes = 64e9;
    d.memory_bandwidth_Bps = 1638e9;
    d.l2_bytes = 8.0 * 1024 * 1024;
    d.tdp_w = 300;
    d.fp32_flops_per_s = 22.6e12;
    d.fp32_matrix_flops_per_s = 45.3e12;
    d.fp16_flops_per_s = 181e12;
    d.bf16_flops_per_s = 181e12;
    return d;
}

inline Device p100() {
    Device d;
    d.name = "P100-PCIE-16GB";
    d.vendor = "nvidia";
    d.architecture = "pascal";
    d.compute_capability = 6.0;
    d.sm_count = 56;
    d.boost_clock_Hz = 1303e6;
    d.memory_bytes = 16e9;
    d.memory_bandwidth_Bps = 732e9;
    d.l2_bytes = 4.0 * 1024 * 1024;
    d.tdp_w = 250;
    d.fp32_flops_per_s = 9.34e12;
    d.fp16_flops_per_s = 18.7e12;
    return d;
}

}  // namespace dlcast::test
