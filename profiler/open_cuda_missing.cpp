// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/open_device.h"

namespace dlcast {

Result<OpenedDevice> open_cuda(int) {
    return unavailable(
        "this build has neither a LibTorch with CUDA nor cuBLASLt and cuDNN; install them and build again");
}

}  // namespace dlcast
