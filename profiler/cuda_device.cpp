// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/cuda_device.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <array>

#include "profiler/device_entry.h"
#include "profiler/nvml.h"

namespace dlcast {
namespace {

int attribute(cudaDeviceAttr which) {
    int device = 0, value = 0;
    cudaGetDevice(&device);
    return cudaDeviceGetAttribute(&value, which, device) == cudaSuccess ? value : 0;
}

GpuState state() {
    int device = 0;
    cudaGetDevice(&device);
    std::array<char, 32> bus{};
    if (cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), device) != cudaSuccess) return {};
    return read_gpu_state(bus.data());
}

cudaDeviceProp properties() {
    cudaDeviceProp out{};
    int device = 0;
    cudaGetDevice(&device);
    cudaGetDeviceProperties(&out, device);
    return out;
}

// fp32 units of a multiprocessor. Source: CUDA C++ Programming Guide, table of arithmetic throughput.
int fp32_units(int major, int minor) {
    switch (major * 10 + minor) {
        case 75:  // Turing
        case 80:  // A100
            return 64;
        default:
            return 128;
    }
}

const char* architecture(int major, int minor) {
    if (major == 7) return minor >= 5 ? "turing" : "volta";
    if (major == 8) return minor == 9 ? "ada" : "ampere";
    return major == 9 ? "hopper" : "blackwell";
}

}  // namespace

Status choose_cuda_device(int local_rank) {
    int count = 0;
    cudaError_t code = cudaGetDeviceCount(&count);
    if (code == cudaSuccess && count > 0) code = cudaSetDevice(local_rank % count);
    if (code == cudaSuccess && count > 0) code = cudaFree(nullptr);  // starts the device
    if (code == cudaSuccess && count > 0) return ok();
    return unavailable(fmt::format("no GPU can be used: {}; is the driver loaded, and does the job have a GPU?",
                                   count == 0 && code == cudaSuccess ? "none is there" : cudaGetErrorString(code)));
}

double cuda_free_bytes() {
    std::size_t free = 0, all = 0;
    return cudaMemGetInfo(&free, &all) == cudaSuccess ? static_cast<double>(free) : 0.0;
}

SampleDevice cuda_sample_device() {
    const GpuState now = state();
    return {properties().name, attribute(cudaDevAttrMultiProcessorCount), now.clock_Hz, now.memory_clock_Hz,
            now.driver};
}

Result<CatalogEntry> detect_cuda(Backend& backend, double most_s) {
    const cudaDeviceProp p = properties();
    CatalogEntry out;
    Device& d = out.device;
    d.name = d.product = p.name;
    d.vendor = "nvidia";
    d.architecture = architecture(p.major, p.minor);
    d.compute_capability = p.major + p.minor / 10.0;
    d.sm_count = p.multiProcessorCount;
    d.boost_clock_Hz = attribute(cudaDevAttrClockRate) * 1e3;
    d.memory_bytes = static_cast<double>(p.totalGlobalMem);
    // Two transfers a clock, over all lines of the bus.
    d.memory_bandwidth_Bps =
        2.0 * attribute(cudaDevAttrMemoryClockRate) * 1e3 * attribute(cudaDevAttrGlobalMemoryBusWidth) / 8;
    d.l2_bytes = static_cast<double>(p.l2CacheSize);
    d.tdp_w = state().power_limit_w;
    d.fp32_flops_per_s = 2.0 * d.boost_clock_Hz * d.sm_count * fp32_units(p.major, p.minor);
    // Data sheets state more than products reach; the driver states nothing.
    const double each_s = most_s / 3;
    d.tf32_flops_per_s = p.major >= 8 ? measured_flops_per_s(backend, Precision::tf32, each_s) : 0.0;
    d.fp16_flops_per_s = measured_flops_per_s(backend, Precision::fp16, each_s);
    d.bf16_flops_per_s = p.major >= 8 ? measured_flops_per_s(backend, Precision::bf16, each_s) : 0.0;
    out.source =
        "by dlcast-profile: sizes, clocks and power from the driver, tensor rates by measured products (data sheets "
        "state more)";
    return out;
}

std::map<std::string, std::string> cuda_versions() {
    int runtime = 0;
    cudaRuntimeGetVersion(&runtime);
    return {{"cuda", fmt::format("{}.{}", runtime / 1000, runtime % 1000 / 10)}};
}

Status wait_for_cuda() {
    const cudaError_t code = cudaDeviceSynchronize();
    if (code == cudaSuccess) return ok();
    return unavailable(fmt::format("the GPU failed: {}", cudaGetErrorString(code)));
}

}  // namespace dlcast
