// SPDX-License-Identifier: GPL-2.0-or-later
// The devices of this build, opened. Each has one implementation, chosen by CMake from what was found.
#pragma once

#include <functional>
#include <memory>

#include "predictor/device/catalog.h"
#include "profiler/backend.h"

namespace dlcast {

struct OpenedDevice {
    std::unique_ptr<Backend> backend;
    /// Facts for a catalog that lacks the device; measures for a few seconds, and begins nothing after `most_s`.
    std::function<Result<CatalogEntry>(Backend&, double most_s)> detect;
};

/// unavailable: this build has no library for it, or the machine no such device; the remedy is named.
Result<OpenedDevice> open_cpu();
/// `local_rank`: which of the host's GPUs, counted round.
Result<OpenedDevice> open_cuda(int local_rank);

}  // namespace dlcast
