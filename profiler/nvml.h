// SPDX-License-Identifier: GPL-2.0-or-later
// What NVIDIA's driver tells of a GPU beyond the CUDA runtime, by its management library, opened where it is.
#pragma once

#include <string>

namespace dlcast {

struct GpuState {
    double power_limit_w = 0.0;                    // the board's default
    double clock_Hz = 0.0, memory_clock_Hz = 0.0;  // now
    std::string driver;
};

/// Of the GPU at this PCI bus id ("0000:3b:00.0"). What is not told stays 0 or empty: there may be no driver at all.
GpuState read_gpu_state(const std::string& pci_bus_id);

}  // namespace dlcast
