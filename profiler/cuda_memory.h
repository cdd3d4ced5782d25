// SPDX-License-Identifier: GPL-2.0-or-later
// Inside of the CUDA backend: memory of the device, and codes of libraries as exceptions that end in the backend.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "predictor/device/device.h"

namespace dlcast {

/// Memory of the device, filled with bytes of 0x3c: about 0.01 in fp32, 1.1 in fp16 and 0.01 in bf16, no denormals.
/// Throws where there is no room.
class DeviceMemory {
public:
    DeviceMemory() = default;
    explicit DeviceMemory(std::size_t bytes);
    void* get() const { return pointer_.get(); }
    template <typename T>
    T* as() const {
        return static_cast<T*>(pointer_.get());
    }

private:
    struct Free {
        void operator()(void* pointer) const;
    };
    std::unique_ptr<void, Free> pointer_;
};

/// Bytes of `elements` in the width of data of this precision.
std::size_t data_bytes(Precision precision, double elements);

/// Throws std::runtime_error("what: text") where `good` is false.
void must(bool good, const std::string& what, const char* text);

}  // namespace dlcast
