// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/torch/dense_layer.h"

#include <cstdint>
#include <cstring>

#define DLCAST_INLINE inline __attribute__((always_inline))  // into a function of a wider instruction set

namespace dlcast {
namespace {

// Not "using": g++ 12 drops the attribute there, where it depends on a parameter.
template <int width>
struct Vector {
    typedef float Floats __attribute__((vector_size(width * sizeof(float))));
    typedef std::int32_t Integers __attribute__((vector_size(width * sizeof(std::int32_t))));
};

// e^x to 2e-7, relative: 2^n times a polynomial on half a power of two to each side. Adding 1.5 * 2^23 rounds to a
// whole number, which then stands in the low bits. Coefficients: Taylor's, the last two adjusted (Cephes, expf).
template <int width>
DLCAST_INLINE void exponential(typename Vector<width>::Floats& x) {
    using Floats = typename Vector<width>::Floats;
    constexpr float log2e = 1.44269504f, ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f, magic = 12582912.0f;
    x = x > 88.0f ? x - x + 88.0f : x;
    x = x < -87.0f ? x - x - 87.0f : x;
    const Floats shifted = x * log2e + magic;
    const Floats whole = shifted - magic;
    const Floats r = (x - whole * ln2_high) - whole * ln2_low;
    Floats p = r * 1.9875691500e-4f + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    typename Vector<width>::Integers bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    bits = (bits - 0x4B400000 + 127) << 23;
    Floats power;
    std::memcpy(&power, &bits, sizeof power);
    x = p * power;
}

// `together` rows of one panel, in vectors of `width`: as many sums as stay in registers.
template <int width, int together>
DLCAST_INLINE void panel_rows(const float* x, int in, int x_stride, const float* weight, const float* bias,
                              bool activate, float* y, long y_stride) {
    using Floats = typename Vector<width>::Floats;
    constexpr int vectors = lanes / width;
    Floats sum[together][vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
        std::memcpy(&sum[0][v], bias + v * width, sizeof(Floats));
#pragma GCC unroll 8
        for (int r = 1; r < together; ++r) sum[r][v] = sum[0][v];
    }
    for (int i = 0; i < in; ++i) {
        Floats w[vectors];
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) std::memcpy(&w[v], weight + i * lanes + v * width, sizeof(Floats));
#pragma GCC unroll 8
        for (int r = 0; r < together; ++r) {
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v) sum[r][v] += x[r * x_stride + i] * w[v];
        }
    }
#pragma GCC unroll 8
    for (int r = 0; r < together; ++r) {
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) {
            if (activate) {
                Floats e = -sum[r][v];
                exponential<width>(e);
                sum[r][v] = sum[r][v] / (1.0f + e);
            }
            std::memcpy(y + r * y_stride + v * width, &sum[r][v], sizeof(Floats));
        }
    }
}

template <int width, int together>
DLCAST_INLINE void layer(const float* x, int rows, int in, int x_stride, const float* weight, const float* bias,
                         int panels, bool activate, float* y) {
    static_assert(block_rows % together == 0);
    const long y_stride = static_cast<long>(panels) * lanes;
    for (int panel = 0; panel < panels; ++panel) {
        for (int row = 0; row < rows; row += together)
            panel_rows<width, together>(x + static_cast<long>(row) * x_stride, in, x_stride,
                                        weight + static_cast<long>(panel) * in * lanes, bias + panel * lanes, activate,
                                        y + row * y_stride + panel * lanes, y_stride);
    }
}

using Kernel = decltype(&dense_layer);

void narrow_layer(const float* x, int rows, int in, int x_stride, const float* weight, const float* bias, int panels,
                  bool activate, float* y) {
    layer<4, 2>(x, rows, in, x_stride, weight, bias, panels, activate, y);
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) void wide_layer(const float* x, int rows, int in, int x_stride, const float* weight,
                                                    const float* bias, int panels, bool activate, float* y) {
    layer<8, 4>(x, rows, in, x_stride, weight, bias, panels, activate, y);
}

__attribute__((target("avx512f"))) void widest_layer(const float* x, int rows, int in, int x_stride,
                                                     const float* weight, const float* bias, int panels, bool activate,
                                                     float* y) {
    layer<16, 8>(x, rows, in, x_stride, weight, bias, panels, activate, y);
}
#endif

}  // namespace

std::vector<Kernel> dense_layer_kernels() {
    std::vector<Kernel> out;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) out.push_back(widest_layer);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) out.push_back(wide_layer);
#endif
    out.push_back(narrow_layer);
    return out;
}

void dense_layer(const float* x, int rows, int in, int x_stride, const float* weight, const float* bias, int panels,
                 bool activate, float* y) {
    static const Kernel fastest = dense_layer_kernels().front();
    fastest(x, rows, in, x_stride, weight, bias, panels, activate, y);
}

}  // namespace dlcast
