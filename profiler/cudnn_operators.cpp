// SPDX-License-Identifier: GPL-2.0-or-later
#include <cudnn.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "profiler/cuda_memory.h"
#include "profiler/cuda_operators.h"
#include "profiler/window.h"

namespace dlcast {
namespace {

void check(cudnnStatus_t code, const char* what) {
    must(code == CUDNN_STATUS_SUCCESS, what, cudnnGetErrorString(code));
}

struct Handle {
    cudnnHandle_t value = nullptr;
    Handle() { check(cudnnCreate(&value), "cuDNN"); }
};

cudnnHandle_t handle() {
    static const Handle out;  // for the process
    return out.value;
}

/// A descriptor that is destroyed with its owner.
template <typename D, cudnnStatus_t (*create)(D*), cudnnStatus_t (*destroy)(D)>
struct Descriptor {
    D value = nullptr;
    Descriptor() { check(create(&value), "a descriptor"); }
    ~Descriptor() { destroy(value); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    operator D() const { return value; }
};
using TensorDescriptor = Descriptor<cudnnTensorDescriptor_t, cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor>;
using FilterDescriptor = Descriptor<cudnnFilterDescriptor_t, cudnnCreateFilterDescriptor, cudnnDestroyFilterDescriptor>;
using ConvolutionDescriptor =
    Descriptor<cudnnConvolutionDescriptor_t, cudnnCreateConvolutionDescriptor, cudnnDestroyConvolutionDescriptor>;
using PoolingDescriptor =
    Descriptor<cudnnPoolingDescriptor_t, cudnnCreatePoolingDescriptor, cudnnDestroyPoolingDescriptor>;
using DropoutDescriptor =
    Descriptor<cudnnDropoutDescriptor_t, cudnnCreateDropoutDescriptor, cudnnDestroyDropoutDescriptor>;

const float one = 1.0f, zero = 0.0f;

Result<cudnnDataType_t> type_of(Precision precision) {
    switch (precision) {
        case Precision::fp32:
        case Precision::tf32:
            return CUDNN_DATA_FLOAT;
        case Precision::amp:
        case Precision::fp16:
            return CUDNN_DATA_HALF;
        case Precision::bf16:
            return CUDNN_DATA_BFLOAT16;
        case Precision::fp8:
            break;
    }
    return unavailable("fp8 is not measured; measure fp32, tf32, amp, fp16 or bf16");
}

cudnnMathType_t math_of(Precision precision) {
    if (precision == Precision::fp32) return CUDNN_FMA_MATH;  // no tensor units
    return precision == Precision::tf32 ? CUDNN_DEFAULT_MATH : CUDNN_TENSOR_OP_MATH;
}

/// A tensor [n, c, h, w] with its memory.
struct Tensor {
    TensorDescriptor shape;
    DeviceMemory memory;
    void set(Precision precision, cudnnDataType_t type, bool channels_last, std::int64_t n, std::int64_t c,
             std::int64_t h, std::int64_t w) {
        check(cudnnSetTensor4dDescriptor(shape, channels_last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW, type,
                                         static_cast<int>(n), static_cast<int>(c), static_cast<int>(h),
                                         static_cast<int>(w)),
              "a tensor's shape");
        memory = DeviceMemory(data_bytes(precision, static_cast<double>(n) * static_cast<double>(c) *
                                                        static_cast<double>(h) * static_cast<double>(w)));
    }
};

struct Convolution {
    Tensor x, y;
    FilterDescriptor w_shape;
    DeviceMemory w, workspace;
    ConvolutionDescriptor call;
    std::size_t workspace_bytes = 0;
};

// The first that fits the workspace, in the order of cuDNN's heuristics.
template <typename Performance>
const Performance* first_that_fits(const std::vector<Performance>& choices, int count) {
    constexpr std::size_t most_bytes = std::size_t{1} << 30;
    for (int i = 0; i < count; ++i) {
        const Performance& p = choices[static_cast<std::size_t>(i)];
        if (p.status == CUDNN_STATUS_SUCCESS && p.memory <= most_bytes) return &p;
    }
    return nullptr;
}

Result<CudaCall> convolution(const Operator& op, cudnnDataType_t type) {
    const auto pad_h = padding_for(op.in_h, op.out_h, op.kernel_h, op.stride);
    const auto pad_w = padding_for(op.in_w, op.out_w, op.kernel_w, op.stride);
    if (pad_h < 0 || pad_w < 0) return unavailable("no padding makes its output of its input");
    auto c = std::make_shared<Convolution>();
    c->x.set(op.precision, type, op.channels_last, op.batch, op.in_ch, op.in_h, op.in_w);
    c->y.set(op.precision, type, op.channels_last, op.batch, op.out_ch, op.out_h, op.out_w);
    const auto per_group = static_cast<int>(op.in_ch / op.groups);
    check(cudnnSetFilter4dDescriptor(c->w_shape, type, op.channels_last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW,
                                     static_cast<int>(op.out_ch), per_group, static_cast<int>(op.kernel_h),
                                     static_cast<int>(op.kernel_w)),
          "a filter's shape");
    c->w =
        DeviceMemory(data_bytes(op.precision, static_cast<double>(op.out_ch * per_group * op.kernel_h * op.kernel_w)));
    check(cudnnSetConvolution2dDescriptor(c->call, static_cast<int>(pad_h), static_cast<int>(pad_w),
                                          static_cast<int>(op.stride), static_cast<int>(op.stride), 1, 1,
                                          CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
          "a convolution");
    check(cudnnSetConvolutionGroupCount(c->call, static_cast<int>(op.groups)), "groups");
    check(cudnnSetConvolutionMathType(c->call, math_of(op.precision)), "its units");
    const auto keep_workspace = [&c](std::size_t bytes) {
        c->workspace_bytes = bytes;
        c->workspace = DeviceMemory(bytes);
    };
    int found = 0;
    const Error none = unavailable("cuDNN has no algorithm for this convolution");
    switch (op.phase) {
        case Phase::forward: {
            std::vector<cudnnConvolutionFwdAlgoPerf_t> choices(CUDNN_CONVOLUTION_FWD_ALGO_COUNT);
            check(cudnnGetConvolutionForwardAlgorithm_v7(handle(), c->x.shape, c->w_shape, c->call, c->y.shape,
                                                         static_cast<int>(choices.size()), &found, choices.data()),
                  "cuDNN's choice");
            const auto* best = first_that_fits(choices, found);
            if (best == nullptr) return none;
            keep_workspace(best->memory);
            return CudaCall([c, algorithm = best->algo] {
                check(cudnnConvolutionForward(handle(), &one, c->x.shape, c->x.memory.get(), c->w_shape, c->w.get(),
                                              c->call, algorithm, c->workspace.get(), c->workspace_bytes, &zero,
                                              c->y.shape, c->y.memory.get()),
                      "a convolution");
            });
        }
        case Phase::backward_data: {
            std::vector<cudnnConvolutionBwdDataAlgoPerf_t> choices(CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT);
            check(cudnnGetConvolutionBackwardDataAlgorithm_v7(handle(), c->w_shape, c->y.shape, c->call, c->x.shape,
                                                              static_cast<int>(choices.size()), &found, choices.data()),
                  "cuDNN's choice");
            const auto* best = first_that_fits(choices, found);
            if (best == nullptr) return none;
            keep_workspace(best->memory);
            return CudaCall([c, algorithm = best->algo] {
                check(cudnnConvolutionBackwardData(handle(), &one, c->w_shape, c->w.get(), c->y.shape,
                                                   c->y.memory.get(), c->call, algorithm, c->workspace.get(),
                                                   c->workspace_bytes, &zero, c->x.shape, c->x.memory.get()),
                      "a convolution");
            });
        }
        case Phase::backward_weight: {
            std::vector<cudnnConvolutionBwdFilterAlgoPerf_t> choices(CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT);
            check(
                cudnnGetConvolutionBackwardFilterAlgorithm_v7(handle(), c->x.shape, c->y.shape, c->call, c->w_shape,
                                                              static_cast<int>(choices.size()), &found, choices.data()),
                "cuDNN's choice");
            const auto* best = first_that_fits(choices, found);
            if (best == nullptr) return none;
            keep_workspace(best->memory);
            return CudaCall([c, algorithm = best->algo] {
                check(cudnnConvolutionBackwardFilter(handle(), &one, c->x.shape, c->x.memory.get(), c->y.shape,
                                                     c->y.memory.get(), c->call, algorithm, c->workspace.get(),
                                                     c->workspace_bytes, &zero, c->w_shape, c->w.get()),
                      "a convolution");
            });
        }
        default:
            return unavailable("a convolution is measured forward, backward_data and backward_weight");
    }
}

struct Pooling {
    Tensor x, y, dx, dy;
    PoolingDescriptor call;
};

Result<CudaCall> pooling(const Operator& op, cudnnDataType_t type) {
    const auto window = pooling_window(op);
    if (!window) return window.error();
    auto p = std::make_shared<Pooling>();
    for (Tensor* t : {&p->x, &p->dx})
        t->set(op.precision, type, op.channels_last, op.batch, op.in_ch, op.in_h, op.in_w);
    for (Tensor* t : {&p->y, &p->dy})
        t->set(op.precision, type, op.channels_last, op.batch, op.in_ch, window->out_h, window->out_w);
    const auto mode = op.function == Function::none ? CUDNN_POOLING_MAX : CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING;
    check(cudnnSetPooling2dDescriptor(p->call, mode, CUDNN_PROPAGATE_NAN, static_cast<int>(window->kernel_h),
                                      static_cast<int>(window->kernel_w), static_cast<int>(window->pad_h),
                                      static_cast<int>(window->pad_w), static_cast<int>(op.stride),
                                      static_cast<int>(op.stride)),
          "a pooling");
    if (op.phase == Phase::forward)
        return CudaCall([p] {
            check(cudnnPoolingForward(handle(), p->call, &one, p->x.shape, p->x.memory.get(), &zero, p->y.shape,
                                      p->y.memory.get()),
                  "a pooling");
        });
    return CudaCall([p] {
        check(cudnnPoolingBackward(handle(), p->call, &one, p->y.shape, p->y.memory.get(), p->dy.shape,
                                   p->dy.memory.get(), p->x.shape, p->x.memory.get(), &zero, p->dx.shape,
                                   p->dx.memory.get()),
              "a pooling");
    });
}

Result<CudaCall> softmax(const Operator& op, cudnnDataType_t type) {
    auto t = std::make_shared<std::array<Tensor, 3>>();
    for (Tensor& tensor : *t) tensor.set(op.precision, type, false, op.rows, op.cols, 1, 1);
    auto& [x, y, dx] = *t;
    if (op.phase == Phase::forward)
        return CudaCall([t, &x = x, &y = y] {
            check(cudnnSoftmaxForward(handle(), CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_INSTANCE, &one, x.shape,
                                      x.memory.get(), &zero, y.shape, y.memory.get()),
                  "a softmax");
        });
    return CudaCall([t, &x = x, &y = y, &dx = dx] {
        check(cudnnSoftmaxBackward(handle(), CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_INSTANCE, &one, y.shape,
                                   y.memory.get(), x.shape, x.memory.get(), &zero, dx.shape, dx.memory.get()),
              "a softmax");
    });
}

struct BatchNorm {
    Tensor x, y, dx;
    TensorDescriptor weights_shape;
    std::array<DeviceMemory, 8> weights;  // scale, shift, two running, two saved, two gradients
};

Result<CudaCall> batch_norm(const Operator& op, cudnnDataType_t type) {
    auto b = std::make_shared<BatchNorm>();
    for (Tensor* t : {&b->x, &b->y, &b->dx}) t->set(op.precision, type, op.channels_last, 1, op.cols, op.rows, 1);
    constexpr auto mode = CUDNN_BATCHNORM_SPATIAL;
    check(cudnnDeriveBNTensorDescriptor(b->weights_shape, b->x.shape, mode), "a batch norm");
    for (DeviceMemory& m : b->weights) m = DeviceMemory(sizeof(float) * static_cast<std::size_t>(op.cols));
    if (op.phase == Phase::forward)
        return CudaCall([b] {
            const auto& w = b->weights;
            check(cudnnBatchNormalizationForwardTraining(handle(), mode, &one, &zero, b->x.shape, b->x.memory.get(),
                                                         b->y.shape, b->y.memory.get(), b->weights_shape, w[0].get(),
                                                         w[1].get(), 0.1, w[2].get(), w[3].get(), 1e-5, w[4].get(),
                                                         w[5].get()),
                  "a batch norm");
        });
    return CudaCall([b] {
        const auto& w = b->weights;
        check(cudnnBatchNormalizationBackward(handle(), mode, &one, &zero, &one, &zero, b->x.shape, b->x.memory.get(),
                                              b->y.shape, b->y.memory.get(), b->dx.shape, b->dx.memory.get(),
                                              b->weights_shape, w[0].get(), w[6].get(), w[7].get(), 1e-5, w[4].get(),
                                              w[5].get()),
              "a batch norm");
    });
}

struct Dropout {
    Tensor x, y;
    DropoutDescriptor call;
    DeviceMemory states, reserve;
    std::size_t reserve_bytes = 0;
};

Result<CudaCall> dropout(const Operator& op, cudnnDataType_t type) {
    auto d = std::make_shared<Dropout>();
    for (Tensor* t : {&d->x, &d->y}) t->set(op.precision, type, false, op.rows, op.cols, 1, 1);
    std::size_t states_bytes = 0;
    check(cudnnDropoutGetStatesSize(handle(), &states_bytes), "a dropout");
    check(cudnnDropoutGetReserveSpaceSize(d->x.shape, &d->reserve_bytes), "a dropout");
    d->states = DeviceMemory(states_bytes);
    d->reserve = DeviceMemory(d->reserve_bytes);
    check(cudnnSetDropoutDescriptor(d->call, handle(), 0.1f, d->states.get(), states_bytes, 1), "a dropout");
    if (op.phase == Phase::forward)
        return CudaCall([d] {
            check(cudnnDropoutForward(handle(), d->call, d->x.shape, d->x.memory.get(), d->y.shape, d->y.memory.get(),
                                      d->reserve.get(), d->reserve_bytes),
                  "a dropout");
        });
    return CudaCall([d] {
        check(cudnnDropoutBackward(handle(), d->call, d->x.shape, d->x.memory.get(), d->y.shape, d->y.memory.get(),
                                   d->reserve.get(), d->reserve_bytes),
              "a dropout");
    });
}

}  // namespace

Result<CudaCall> make_cudnn_call(const Operator& op) {
    const auto type = type_of(op.precision);
    if (!type) return type.error();
    switch (op.kind) {
        case OperatorKind::conv2d:
            return convolution(op, *type);
        case OperatorKind::pooling:
            return pooling(op, *type);
        case OperatorKind::softmax:
            return softmax(op, *type);
        case OperatorKind::batch_norm:
            return batch_norm(op, *type);
        case OperatorKind::dropout:
            return dropout(op, *type);
        default:
            return unavailable("cuDNN has no such operator here");
    }
}

std::string cudnn_version() {
    const std::size_t v = cudnnGetVersion();
    return fmt::format("{}.{}.{}", v / 10000, v / 100 % 100, v % 100);
}

}  // namespace dlcast
