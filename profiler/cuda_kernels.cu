// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/cuda_kernels.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace dlcast {
namespace {

constexpr int threads = 256;
constexpr int per_thread = 4;

unsigned blocks_for(std::int64_t items) { return static_cast<unsigned>((items + threads - 1) / threads); }

// Four neighbours in one access.
template <typename T>
struct alignas(per_thread * sizeof(T)) Pack {
    T value[per_thread];
};

template <Function f>
__device__ float apply(float a, float b) {
    if constexpr (f == Function::add) return a + b;
    if constexpr (f == Function::mul) return a * b;
    if constexpr (f == Function::div) return a / b;
    if constexpr (f == Function::pow) return powf(a, b);
    if constexpr (f == Function::add_scalar) return a + 0.5f;
    if constexpr (f == Function::mul_scalar) return a * 0.5f;
    if constexpr (f == Function::div_scalar) return a / 3.0f;
    if constexpr (f == Function::pow_scalar) return powf(a, 3.0f);
    if constexpr (f == Function::relu) return fmaxf(a, 0.0f);
    if constexpr (f == Function::gelu) return 0.5f * a * (1.0f + erff(a * 0.70710678f));
    if constexpr (f == Function::tanh) return tanhf(a);
    if constexpr (f == Function::sigmoid) return 1.0f / (1.0f + __expf(-a));
    if constexpr (f == Function::silu) return a / (1.0f + __expf(-a));
    return a > 0.0f ? a : __expf(a) - 1.0f;  // elu, for functions of other names
}

template <Function f>
__device__ float derivative(float a) {
    if constexpr (f == Function::mul_scalar) return 0.5f;
    if constexpr (f == Function::div_scalar) return 1.0f / 3.0f;
    if constexpr (f == Function::pow_scalar) return 3.0f * a * a;
    if constexpr (f == Function::relu) return a > 0.0f ? 1.0f : 0.0f;
    if constexpr (f == Function::gelu)
        return 0.5f * (1.0f + erff(a * 0.70710678f)) + a * 0.39894228f * __expf(-0.5f * a * a);
    if constexpr (f == Function::tanh) return 1.0f - tanhf(a) * tanhf(a);
    const float s = 1.0f / (1.0f + __expf(-a));
    if constexpr (f == Function::sigmoid) return s * (1.0f - s);
    if constexpr (f == Function::silu) return s * (1.0f + a * (1.0f - s));
    return a > 0.0f ? 1.0f : __expf(a);
}

template <typename T, Function f, bool backward>
__global__ void elementwise(const Pack<T>* a, const Pack<T>* b, Pack<T>* out, std::int64_t packs) {
    const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(threads) + threadIdx.x;
    if (i >= packs) return;
    constexpr bool two = backward || f == Function::add || f == Function::mul || f == Function::div || f == Function::pow;
    const Pack<T> x = a[i];
    const Pack<T> y = two ? b[i] : x;
    Pack<T> z;
    for (int k = 0; k < per_thread; ++k) {
        const float u = static_cast<float>(x.value[k]), v = static_cast<float>(y.value[k]);
        z.value[k] = static_cast<T>(backward ? v * derivative<f>(u) : apply<f>(u, v));
    }
    out[i] = z;
}

template <typename T, bool backward, Function f>
void launch_one(const void* a, const void* b, void* out, std::int64_t packs) {
    elementwise<T, f, backward><<<blocks_for(packs), threads>>>(static_cast<const Pack<T>*>(a),
                                                                static_cast<const Pack<T>*>(b), static_cast<Pack<T>*>(out),
                                                                packs);
}

template <typename T, bool backward>
void launch_function(Function f, const void* a, const void* b, void* out, std::int64_t n) {
    const std::int64_t packs = (n + per_thread - 1) / per_thread;
    switch (f) {
#define DLCAST_CASE(name)  \
    case Function::name:   \
        return launch_one<T, backward, Function::name>(a, b, out, packs)
        DLCAST_CASE(add);
        DLCAST_CASE(mul);
        DLCAST_CASE(div);
        DLCAST_CASE(pow);
        DLCAST_CASE(add_scalar);
        DLCAST_CASE(mul_scalar);
        DLCAST_CASE(div_scalar);
        DLCAST_CASE(pow_scalar);
        DLCAST_CASE(relu);
        DLCAST_CASE(gelu);
        DLCAST_CASE(tanh);
        DLCAST_CASE(sigmoid);
        DLCAST_CASE(silu);
#undef DLCAST_CASE
        default:
            return launch_one<T, backward, Function::other>(a, b, out, packs);
    }
}

/// Calls `launch` with a value of the data's type.
template <typename Launch>
void with_type(CudaType type, Launch launch) {
    if (type == CudaType::fp32) return launch(float{});
    if (type == CudaType::fp16) return launch(__half{});
    return launch(__nv_bfloat16{});
}

template <typename T>
__global__ void cast(const Pack<float>* a, Pack<T>* out, std::int64_t packs) {
    const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(threads) + threadIdx.x;
    if (i >= packs) return;
    const Pack<float> x = a[i];
    Pack<T> z;
    for (int k = 0; k < per_thread; ++k) z.value[k] = static_cast<T>(x.value[k]);
    out[i] = z;
}

__device__ float sum_over_block(float value) {
    __shared__ float parts[threads / 32];
    for (int lane = 16; lane > 0; lane /= 2) value += __shfl_down_sync(0xffffffffu, value, lane);
    __syncthreads();  // parts may still be read
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    float all = 0.0f;
    for (const float part : parts) all += part;
    return all;
}

template <typename T>
__global__ void layer_norm(const T* a, const T* w, const T* b, T* out, std::int64_t cols) {
    const T* row = a + blockIdx.x * cols;
    float sum = 0.0f, squares = 0.0f;
    for (std::int64_t c = threadIdx.x; c < cols; c += threads) {
        const float x = static_cast<float>(row[c]);
        sum += x;
        squares += x * x;
    }
    const float mean = sum_over_block(sum) / cols;
    const float scale = rsqrtf(sum_over_block(squares) / cols - mean * mean + 1e-5f);
    for (std::int64_t c = threadIdx.x; c < cols; c += threads)
        out[blockIdx.x * cols + c] = static_cast<T>((static_cast<float>(row[c]) - mean) * scale * static_cast<float>(w[c]) +
                                                    static_cast<float>(b[c]));
}

template <typename T>
__global__ void embedding(const T* table, const std::int64_t* ids, T* out, std::int64_t cols) {
    const T* row = table + ids[blockIdx.x] * cols;
    for (std::int64_t c = threadIdx.x; c < cols; c += threads) out[blockIdx.x * cols + c] = row[c];
}

__global__ void embedding_backward(const float* gradient, const std::int64_t* ids, float* table, std::int64_t cols) {
    for (std::int64_t c = threadIdx.x; c < cols; c += threads)
        atomicAdd(&table[ids[blockIdx.x] * cols + c], gradient[blockIdx.x * cols + c]);
}

template <int states>
__global__ void update(Pack<float>* weight, Pack<float>* gradient, Pack<float>* first, Pack<float>* second,
                       std::int64_t packs) {
    const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(threads) + threadIdx.x;
    if (i >= packs) return;
    Pack<float> w = weight[i], g = gradient[i], m{}, v{};
    if constexpr (states > 0) m = first[i];
    if constexpr (states > 1) v = second[i];
    for (int k = 0; k < per_thread; ++k) {
        float move = g.value[k];
        if constexpr (states == 1) move = m.value[k] = 0.9f * m.value[k] + move;
        if constexpr (states == 2) {
            m.value[k] = 0.9f * m.value[k] + 0.1f * move;
            v.value[k] = 0.999f * v.value[k] + 0.001f * move * move;
            move = m.value[k] / (sqrtf(v.value[k]) + 1e-8f);
        }
        w.value[k] -= 1e-4f * move;
        g.value[k] = 0.0f;
    }
    weight[i] = w;
    gradient[i] = g;
    if constexpr (states > 0) first[i] = m;
    if constexpr (states > 1) second[i] = v;
}

}  // namespace

void launch_forward(Function f, CudaType type, const void* a, const void* b, void* out, std::int64_t n) {
    with_type(type, [&](auto t) { launch_function<decltype(t), false>(f, a, b, out, n); });
}

void launch_backward(Function f, CudaType type, const void* a, const void* gradient, void* out, std::int64_t n) {
    with_type(type, [&](auto t) { launch_function<decltype(t), true>(f, a, gradient, out, n); });
}

void launch_cast(CudaType to, const float* a, void* out, std::int64_t n) {
    const std::int64_t packs = (n + per_thread - 1) / per_thread;
    with_type(to, [&](auto t) {
        using T = decltype(t);
        cast<<<blocks_for(packs), threads>>>(reinterpret_cast<const Pack<float>*>(a), static_cast<Pack<T>*>(out), packs);
    });
}

void launch_layer_norm(CudaType type, const void* a, const void* w, const void* b, void* out, std::int64_t rows,
                       std::int64_t cols) {
    with_type(type, [&](auto t) {
        using T = decltype(t);
        layer_norm<<<static_cast<unsigned>(rows), threads>>>(static_cast<const T*>(a), static_cast<const T*>(w),
                                                             static_cast<const T*>(b), static_cast<T*>(out), cols);
    });
}

void launch_embedding(CudaType type, const void* table, const std::int64_t* ids, void* out, std::int64_t rows,
                      std::int64_t cols) {
    with_type(type, [&](auto t) {
        using T = decltype(t);
        embedding<<<static_cast<unsigned>(rows), threads>>>(static_cast<const T*>(table), ids, static_cast<T*>(out), cols);
    });
}

void launch_embedding_backward(const float* gradient, const std::int64_t* ids, float* table, std::int64_t rows,
                               std::int64_t cols) {
    embedding_backward<<<static_cast<unsigned>(rows), threads>>>(gradient, ids, table, cols);
}

void launch_update(int states, float* weight, float* gradient, float* first, float* second, std::int64_t n) {
    const std::int64_t packs = (n + per_thread - 1) / per_thread;
    const auto as_packs = [](float* p) { return reinterpret_cast<Pack<float>*>(p); };
    const auto kernel = states == 0 ? update<0> : states == 1 ? update<1> : update<2>;
    kernel<<<blocks_for(packs), threads>>>(as_packs(weight), as_packs(gradient), as_packs(first), as_packs(second), packs);
}

const char* launch_fault() {
    const cudaError_t code = cudaGetLastError();
    return code == cudaSuccess ? nullptr : cudaGetErrorString(code);
}

}  // namespace dlcast
