// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/nvml.h"

#include <dlfcn.h>

namespace dlcast {
namespace {

// The library comes with the driver, its header with CUDA's developer packages: these few functions are declared here.
// Source: NVIDIA, NVML API reference. Each returns 0 where it succeeds.
using Handle = void*;
constexpr int clock_sm = 1, clock_memory = 2;

template <typename Function>
bool find(void* library, const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(::dlsym(library, name));
    return function != nullptr;
}

struct Library {
    int (*init)() = nullptr;
    int (*by_bus_id)(const char*, Handle*) = nullptr;
    int (*power_limit)(Handle, unsigned*) = nullptr;
    int (*clock)(Handle, int, unsigned*) = nullptr;
    int (*driver)(char*, unsigned) = nullptr;
    bool ready = false;

    Library() {
        void* library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
        ready = library != nullptr && find(library, "nvmlInit_v2", init) &&
                find(library, "nvmlDeviceGetHandleByPciBusId_v2", by_bus_id) &&
                find(library, "nvmlDeviceGetPowerManagementDefaultLimit", power_limit) &&
                find(library, "nvmlDeviceGetClockInfo", clock) && find(library, "nvmlSystemGetDriverVersion", driver) &&
                init() == 0;
    }
};

}  // namespace

GpuState read_gpu_state(const std::string& pci_bus_id) {
    static const Library nvml;  // never closed: it keeps the driver's state
    GpuState out;
    Handle handle = nullptr;
    if (!nvml.ready || nvml.by_bus_id(pci_bus_id.c_str(), &handle) != 0) return out;
    unsigned value = 0;
    if (nvml.power_limit(handle, &value) == 0) out.power_limit_w = value / 1e3;
    if (nvml.clock(handle, clock_sm, &value) == 0) out.clock_Hz = value * 1e6;
    if (nvml.clock(handle, clock_memory, &value) == 0) out.memory_clock_Hz = value * 1e6;
    char text[96] = "";
    if (nvml.driver(text, sizeof text) == 0) out.driver = text;
    return out;
}

}  // namespace dlcast
