// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/cuda_memory.h"

#include <cuda_runtime_api.h>

#include <stdexcept>

#include "predictor/timing/operator.h"

namespace dlcast {

DeviceMemory::DeviceMemory(std::size_t bytes) {
    void* pointer = nullptr;
    const cudaError_t code = cudaMalloc(&pointer, bytes == 0 ? 1 : bytes);
    must(code == cudaSuccess, "memory of the GPU", cudaGetErrorString(code));
    pointer_.reset(pointer);
    constexpr int filling = 0x3c;
    cudaMemset(pointer, filling, bytes);
}

void DeviceMemory::Free::operator()(void* pointer) const { cudaFree(pointer); }

std::size_t data_bytes(Precision precision, double elements) {
    return static_cast<std::size_t>(element_bytes(precision) * elements);
}

void must(bool good, const std::string& what, const char* text) {
    if (!good) throw std::runtime_error(what + ": " + text);
}

}  // namespace dlcast
