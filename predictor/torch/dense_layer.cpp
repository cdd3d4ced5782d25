// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/torch/dense_layer.h"

#include <cstdint>
#include <cstring>

// A copy of the function for each of these instruction sets, chosen when the module is opened.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define DLCAST_BEST_VECTORS __attribute__((target_clones("avx512f", "arch=haswell", "default")))
#else
#define DLCAST_BEST_VECTORS
#endif
#define DLCAST_INLINE inline __attribute__((always_inline))

namespace dlcast {
namespace {

using Lanes = float __attribute__((vector_size(lanes * sizeof(float))));
using IntLanes = std::int32_t __attribute__((vector_size(lanes * sizeof(std::int32_t))));

DLCAST_INLINE void load(Lanes& to, const float* from) { std::memcpy(&to, from, sizeof to); }

// e^x to 2e-7, relative: 2^n times a polynomial on half a power of two to each side. Adding 1.5 * 2^23 rounds to a
// whole number, which then stands in the low bits. Coefficients: Taylor's, the last two adjusted (Cephes, expf).
DLCAST_INLINE void exponential(Lanes& x) {
    constexpr float log2e = 1.44269504f, ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f, magic = 12582912.0f;
    x = x > 88.0f ? x - x + 88.0f : x;
    x = x < -87.0f ? x - x - 87.0f : x;
    const Lanes shifted = x * log2e + magic;
    const Lanes whole = shifted - magic;
    const Lanes r = (x - whole * ln2_high) - whole * ln2_low;
    Lanes p = r * 1.9875691500e-4f + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    IntLanes bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    bits = (bits - 0x4B400000 + 127) << 23;
    Lanes power;
    std::memcpy(&power, &bits, sizeof power);
    x = p * power;
}

}  // namespace

DLCAST_BEST_VECTORS
void dense_layer(const float* x, int rows, int in, int x_stride, const float* weight, const float* bias, int panels,
                 bool activate, float* y) {
    for (int panel = 0; panel < panels; ++panel) {
        const float* const panel_weight = weight + static_cast<long>(panel) * in * lanes;
        Lanes start;
        load(start, bias + panel * lanes);
        for (int row = 0; row < rows; row += block_rows) {
            const float* const block = x + static_cast<long>(row) * x_stride;
            Lanes sum[block_rows];
            for (Lanes& s : sum) s = start;
            for (int i = 0; i < in; ++i) {
                Lanes w;
                load(w, panel_weight + i * lanes);
#pragma GCC unroll 8
                for (int r = 0; r < block_rows; ++r) sum[r] += block[r * x_stride + i] * w;
            }
            for (int r = 0; r < block_rows; ++r) {
                if (activate) {
                    Lanes e = -sum[r];
                    exponential(e);
                    sum[r] = sum[r] / (1.0f + e);
                }
                std::memcpy(y + (static_cast<long>(row + r) * panels + panel) * lanes, &sum[r], sizeof sum[r]);
            }
        }
    }
}

}  // namespace dlcast
