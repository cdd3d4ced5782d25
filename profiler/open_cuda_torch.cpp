// SPDX-License-Identifier: GPL-2.0-or-later
// A GPU through a LibTorch that was built with CUDA.
#include <fmt/format.h>

#include "profiler/cuda_device.h"
#include "profiler/gpu_timer.h"
#include "profiler/torch_backend.h"

namespace dlcast {

Result<OpenedDevice> open_cuda(int local_rank) {
    if (auto status = choose_cuda_device(local_rank); !status) return status.error();
    try {
        auto backend =
            make_torch_backend("cuda", make_gpu_timer(), cuda_sample_device, cuda_free_bytes, cuda_versions(), 0.0);
        if (!backend) return backend.error();
        return OpenedDevice{std::move(*backend), detect_cuda};
    } catch (const std::exception& e) {
        return unavailable(fmt::format("the GPU cannot be used: {}", e.what()));
    }
}

}  // namespace dlcast
