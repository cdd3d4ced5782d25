// SPDX-License-Identifier: GPL-2.0-or-later
// What libraries take of a GPU's memory beside the tensors of a training.
#pragma once

#include "predictor/device/device.h"
#include "predictor/model/workload.h"
#include "predictor/step/layout.h"

namespace dlcast {

/// Driver context, kernels and library handles of one process: grows with the device's processors, for each of which
/// the driver reserves local memory.
double context_bytes(const Device& device);

/// Workspaces of matrix products (cuBLAS: 8 MiB a handle, 32 MiB from Hopper on, NVIDIA's documentation of
/// CUBLAS_WORKSPACE_CONFIG) and of convolutions (the largest tensor of one, `micro_batch` samples, at most 1 GiB).
double library_workspace_bytes(const Workload& workload, std::int64_t micro_batch, const Device& device);

/// Channels of NCCL: for each communicator, channel and neighbour the buffers of its protocols, 4 MiB for Simple, 0.5
/// MiB for LL, 4.7 MiB for LL128 over NVLink (defaults of NCCL's src/include/comm.h and device.h); a ring and a tree,
/// 24 channels over NVLink 3 and newer, 12 over NVLink 2, 4 over PCIe and networks.
double channel_bytes(const Layout& layout, const Device& device);

}  // namespace dlcast
