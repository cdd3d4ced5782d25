// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/timing/torch_module.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>

namespace dlcast {
namespace {

template <typename Function>
bool find(void* module, const char* name, Function& function) {
    function = reinterpret_cast<Function>(::dlsym(module, name));
    return function != nullptr;
}

}  // namespace

Result<TorchModule> open_torch_module(const std::string& path) {
    // dlopen would wait for ever on a FIFO.
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode))
        return unavailable(fmt::format("no layer-time module at '{}'; is LibTorch installed?", path));
    void* const module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (module == nullptr) {
        const char* reason = ::dlerror();
        return unavailable(
            fmt::format("cannot load the layer-time module: {}; is LibTorch installed?", reason ? reason : path));
    }
    decltype(&dlcast_torch_abi) version = nullptr;
    TorchModule out;
    if (!find(module, "dlcast_torch_abi", version) || !find(module, "dlcast_torch_open", out.open) ||
        !find(module, "dlcast_torch_evaluate", out.evaluate) || !find(module, "dlcast_torch_fit", out.fit) ||
        !find(module, "dlcast_torch_save", out.save) || !find(module, "dlcast_torch_close", out.close)) {
        return unavailable(fmt::format("'{}' is no module of dlcast; install dlcast_torch.so", path));
    }
    if (const int built = version(); built != DLCAST_TORCH_ABI) {
        return unavailable(fmt::format("'{}' has interface {} where {} is needed; install the module of this version",
                                       path, built, DLCAST_TORCH_ABI));
    }
    return out;
}

}  // namespace dlcast
