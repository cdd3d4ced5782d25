// SPDX-License-Identifier: GPL-2.0-or-later
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <array>
#include <memory>
#include <vector>

#include "profiler/cuda_kernels.h"
#include "profiler/cuda_memory.h"
#include "profiler/cuda_operators.h"

namespace dlcast {
namespace {

Result<CudaType> type_of(Precision precision) {
    switch (precision) {
        case Precision::fp32:
        case Precision::tf32:
            return CudaType::fp32;
        case Precision::amp:
        case Precision::fp16:
            return CudaType::fp16;
        case Precision::bf16:
            return CudaType::bf16;
        case Precision::fp8:
            break;
    }
    return unavailable("fp8 is not measured; measure fp32, tf32, amp, fp16 or bf16");
}

// Kernels read four elements at once.
constexpr double padding_elements = 4;

double elements(const Operator& op) { return static_cast<double>(op.rows) * static_cast<double>(op.cols); }

template <std::size_t count>
std::shared_ptr<std::array<DeviceMemory, count>> buffers(std::size_t bytes) {
    auto out = std::make_shared<std::array<DeviceMemory, count>>();
    for (DeviceMemory& m : *out) m = DeviceMemory(bytes);
    return out;
}

void must_launch() {
    const char* fault = launch_fault();
    must(fault == nullptr, "a kernel", fault == nullptr ? "" : fault);
}

CudaCall elementwise(const Operator& op, CudaType type) {
    auto m = buffers<3>(data_bytes(op.precision, elements(op) + padding_elements));
    // The sum of two gradients, the product of a gradient and a factor, are what they are forward.
    const bool forward = op.phase == Phase::forward || op.function == Function::add || op.function == Function::mul;
    return [m, f = op.function, type, n = op.rows * op.cols, launch = forward ? launch_forward : launch_backward] {
        launch(f, type, (*m)[0].get(), (*m)[1].get(), (*m)[2].get(), n);
        must_launch();
    };
}

CudaCall copy(const Operator& op, CudaType type) {
    if (op.function == Function::other) {
        auto from = std::make_shared<DeviceMemory>(data_bytes(Precision::fp32, elements(op) + padding_elements));
        auto to = buffers<1>(data_bytes(op.precision, elements(op) + padding_elements));
        return [from, to, type, n = op.rows * op.cols] {
            launch_cast(type, from->as<float>(), (*to)[0].get(), n);
            must_launch();
        };
    }
    const std::size_t bytes = data_bytes(op.precision, elements(op));
    auto m = buffers<2>(bytes);
    return [m, bytes] {
        const cudaError_t code =
            cudaMemcpyAsync((*m)[1].get(), (*m)[0].get(), bytes, cudaMemcpyDeviceToDevice, nullptr);
        must(code == cudaSuccess, "a copy", cudaGetErrorString(code));
    };
}

Result<CudaCall> layer_norm(const Operator& op, CudaType type) {
    if (op.phase != Phase::forward)
        return unavailable("a layer norm's backward needs LibTorch with CUDA; neither cuBLASLt nor cuDNN has it");
    auto m = buffers<2>(data_bytes(op.precision, elements(op)));
    auto w = buffers<2>(data_bytes(op.precision, static_cast<double>(op.cols)));
    return CudaCall([m, w, type, rows = op.rows, cols = op.cols] {
        launch_layer_norm(type, (*m)[0].get(), (*w)[0].get(), (*w)[1].get(), (*m)[1].get(), rows, cols);
        must_launch();
    });
}

// Ids spread over the table as words of a text do not: every row is another one, as far as there are rows.
std::shared_ptr<DeviceMemory> spread_ids(const Operator& op) {
    std::vector<std::int64_t> ids(static_cast<std::size_t>(op.rows));
    constexpr std::int64_t step = 7919;  // prime
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int64_t>(i) * step % op.vocab;
    const std::size_t bytes = ids.size() * sizeof(std::int64_t);
    auto out = std::make_shared<DeviceMemory>(bytes);
    cudaMemcpy(out->get(), ids.data(), bytes, cudaMemcpyHostToDevice);
    return out;
}

Result<CudaCall> embedding(const Operator& op, CudaType type) {
    const double table_elements = static_cast<double>(op.vocab) * static_cast<double>(op.cols);
    auto ids = spread_ids(op);
    if (op.phase == Phase::forward) {
        auto table = std::make_shared<DeviceMemory>(data_bytes(op.precision, table_elements));
        auto out = std::make_shared<DeviceMemory>(data_bytes(op.precision, elements(op)));
        return CudaCall([=, rows = op.rows, cols = op.cols] {
            launch_embedding(type, table->get(), ids->as<std::int64_t>(), out->get(), rows, cols);
            must_launch();
        });
    }
    if (type != CudaType::fp32) return unavailable("an embedding's gradient is measured in fp32");
    const std::size_t table_bytes = data_bytes(Precision::fp32, table_elements);
    auto table = std::make_shared<DeviceMemory>(table_bytes);
    auto gradient = std::make_shared<DeviceMemory>(data_bytes(Precision::fp32, elements(op)));
    return CudaCall([=, rows = op.rows, cols = op.cols] {
        cudaMemsetAsync(table->get(), 0, table_bytes, nullptr);
        launch_embedding_backward(gradient->as<float>(), ids->as<std::int64_t>(), table->as<float>(), rows, cols);
        must_launch();
    });
}

Result<CudaCall> update(const Operator& op) {
    const bool adam = op.optimizer == Optimizer::adam || op.optimizer == Optimizer::adamw;
    const bool momentum = op.optimizer == Optimizer::momentum;
    if (!adam && !momentum && op.optimizer != Optimizer::sgd)
        return unavailable(
            fmt::format("an update by {} needs LibTorch with CUDA; sgd, momentum, adam and adamw are here",
                        to_string(op.optimizer)));
    auto m = buffers<4>(data_bytes(Precision::fp32, elements(op) + padding_elements));
    return CudaCall([m,
                     states = adam       ? 2
                              : momentum ? 1
                                         : 0,
                     n = op.rows * op.cols] {
        launch_update(states, (*m)[0].as<float>(), (*m)[1].as<float>(), (*m)[2].as<float>(), (*m)[3].as<float>(), n);
        must_launch();
    });
}

}  // namespace

Result<CudaCall> make_kernel_call(const Operator& op) {
    const auto type = type_of(op.precision);
    if (!type) return type.error();
    switch (op.kind) {
        case OperatorKind::elementwise:
            return elementwise(op, *type);
        case OperatorKind::copy:
            return copy(op, *type);
        case OperatorKind::layer_norm:
            return layer_norm(op, *type);
        case OperatorKind::embedding:
            return embedding(op, *type);
        case OperatorKind::optimizer:
            return update(op);
        default:
            return unavailable(
                fmt::format("{} needs LibTorch with CUDA; neither cuBLASLt nor cuDNN has it here", to_string(op.kind)));
    }
}

}  // namespace dlcast
