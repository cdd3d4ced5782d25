// SPDX-License-Identifier: GPL-2.0-or-later
// The catalog a site works with: the shipped GPUs, its own, and its choice for ambiguous names.
#pragma once

#include "predictor/base/result.h"
#include "predictor/device/catalog.h"
#include "predictor/job/site_config.h"

namespace dlcast {

/// [files] gpus, then site_gpus over it, then [gpu_names]. Errors: a file that is missing or wrong, a choice of a GPU
/// that is in neither.
Result<DeviceCatalog> load_catalog(const SiteConfig& config);

/// The same with every fault at once.
Checked<DeviceCatalog> check_catalog(const SiteConfig& config);

}  // namespace dlcast
