// SPDX-License-Identifier: GPL-2.0-or-later
// GPU facts as a table (`--gpus FILE`): gpu, product, vendor, arch, compute_cap, sm_count, boost_mhz, mem_gb,
// mem_bw_gbs, l2_mb, fp32_tflops, tf32_tensor_tflops, fp16_tensor_tflops, gpu_link, year; further columns are passed
// over.
#pragma once

#include <string>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/device/catalog.h"

namespace dlcast {

/// Adds the rows to the catalog; they win for their names. Facts the table lacks (board power, fp8) come from the
/// catalog's entry for the `product`, else from what is usual for the architecture; each of these is named in the lines
/// returned. Errors: unreadable file, no column `gpu`, a row without SMs, clock, bandwidth or fp32 rate.
Result<std::vector<std::string>> add_gpu_table(DeviceCatalog& catalog, const std::string& path);

}  // namespace dlcast
