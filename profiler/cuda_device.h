// SPDX-License-Identifier: GPL-2.0-or-later
// The GPU of this process, by the CUDA runtime.
#pragma once

#include "profiler/open_device.h"

namespace dlcast {

/// Makes the GPU number `local_rank` of this host, counted round, the one this thread uses. unavailable: no driver, no
/// GPU, or none that this CUDA knows, and why.
Status choose_cuda_device(int local_rank);

/// The chosen GPU by the name the driver gives it ("NVIDIA H200"), with its clocks now.
SampleDevice cuda_sample_device();

/// Of its memory; 0: the driver does not tell.
double cuda_free_bytes();

/// Facts of the chosen GPU for a catalog: sizes from the driver, rates by the backend's best products.
Result<CatalogEntry> detect_cuda(Backend& backend, double most_s);

/// Of the CUDA runtime and driver: {"cuda", "13.0"}, ...
std::map<std::string, std::string> cuda_versions();

/// All of the device's work is done. unavailable: the device has failed, and how.
Status wait_for_cuda();

}  // namespace dlcast
