// SPDX-License-Identifier: GPL-2.0-or-later
// Own kernels for operators that move memory: they run at the speed of the memory, as a framework's do. Each is queued
// on the default stream. Sizes in elements; memory is the device's.
#pragma once

#include <cstdint>

#include "predictor/timing/operator.h"

namespace dlcast {

/// Of the data. Arithmetic is in fp32.
enum class CudaType { fp32, fp16, bf16 };

/// out[i] = f(a[i]) or f(a[i], b[i]).
void launch_forward(Function f, CudaType type, const void* a, const void* b, void* out, std::int64_t n);
/// out[i] = gradient[i] f'(a[i]).
void launch_backward(Function f, CudaType type, const void* a, const void* gradient, void* out, std::int64_t n);
/// fp32 to half width.
void launch_cast(CudaType to, const float* a, void* out, std::int64_t n);
/// Each row minus its mean, over its deviation, times w plus b.
void launch_layer_norm(CudaType type, const void* a, const void* w, const void* b, void* out, std::int64_t rows,
                       std::int64_t cols);
/// Row ids[r] of the table to row r of the output; backward adds row r of the gradient to row ids[r] of the table's.
void launch_embedding(CudaType type, const void* table, const std::int64_t* ids, void* out, std::int64_t rows,
                      std::int64_t cols);
void launch_embedding_backward(const float* gradient, const std::int64_t* ids, float* table, std::int64_t rows,
                               std::int64_t cols);
/// One step of SGD (states 0), SGD with momentum (1) or Adam (2) over n parameters, and the gradient zeroed.
void launch_update(int states, float* weight, float* gradient, float* first, float* second, std::int64_t n);

/// Text of the last launch's failure; nullptr where there was none.
const char* launch_fault();

}  // namespace dlcast
