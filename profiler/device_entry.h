// SPDX-License-Identifier: GPL-2.0-or-later
// The catalog entry of a device that gpus.toml does not know, from what was detected and measured.
#pragma once

#include <string>

#include "predictor/device/catalog.h"
#include "profiler/backend.h"

namespace dlcast {

/// FLOP/s of the backend's best large product: a matrix product and a convolution with 1 x 1 kernels, the fastest of
/// several runs each, half a second at most. Once there is a figure, nothing begins after `most_s`. 0 where it has none
/// of them in this precision.
double measured_flops_per_s(Backend& backend, Precision precision, double most_s);

/// The entry as gpus.toml takes it.
std::string to_toml(const CatalogEntry& entry);

}  // namespace dlcast
