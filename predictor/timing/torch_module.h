// SPDX-License-Identifier: GPL-2.0-or-later
// dlcast_torch.so, opened at run time: its C functions, or the reason why they are not there.
#pragma once

#include <memory>
#include <string>

#include "predictor/base/result.h"
#include "predictor/torch/torch_abi.h"

namespace dlcast {

/// Each member is the function of torch_abi.h that bears its name.
struct TorchModule {
    decltype(&dlcast_torch_open) open = nullptr;
    decltype(&dlcast_torch_evaluate) evaluate = nullptr;
    decltype(&dlcast_torch_fit) fit = nullptr;
    decltype(&dlcast_torch_save) save = nullptr;
    decltype(&dlcast_torch_close) close = nullptr;
};

/// Opens the module with RTLD_NOW | RTLD_LOCAL and never closes it: LibTorch leaves threads and exit handlers behind.
/// unavailable: missing, not loadable (LibTorch is not installed), a function missing, or built from another header.
Result<TorchModule> open_torch_module(const std::string& path);

using TorchNetwork = std::unique_ptr<dlcast_torch_network, decltype(&dlcast_torch_close)>;

}  // namespace dlcast
