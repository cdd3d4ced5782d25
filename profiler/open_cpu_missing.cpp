// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/open_device.h"

namespace dlcast {

Result<OpenedDevice> open_cpu() {
    return unavailable("this build has no LibTorch and measures no CPU; install libtorch-dev and build again");
}

}  // namespace dlcast
