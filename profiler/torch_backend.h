// SPDX-License-Identifier: GPL-2.0-or-later
// The backend of LibTorch, on a CPU or a GPU.
#pragma once

#include <memory>

#include "profiler/backend.h"
#include "profiler/work_timer.h"

namespace dlcast {

/// `device` as LibTorch names it: "cpu", "cuda". `describe` tells the device by name and its clocks, `free_bytes`
/// its memory that is free; `more` are versions beside LibTorch's own. `cache_bytes` of a CPU's last cache are evicted
/// before each operator runs, but for what the operator before it leaves inside of a step. Random numbers start from
/// one seed. unavailable: this LibTorch has no such device.
Result<std::unique_ptr<Backend>> make_torch_backend(const std::string& device, std::unique_ptr<WorkTimer> timer,
                                                    std::function<SampleDevice()> describe,
                                                    std::function<double()> free_bytes,
                                                    std::map<std::string, std::string> more, double cache_bytes);

/// Threads of one operator: OMP_NUM_THREADS, else `usual` from now on.
int torch_threads(int usual);

}  // namespace dlcast
