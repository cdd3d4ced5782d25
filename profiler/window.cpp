// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dlcast {

std::int64_t padding_for(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride) {
    const std::int64_t padding = std::max<std::int64_t>(0, ((out - 1) * stride + kernel - in + 1) / 2);
    return in + 2 * padding >= kernel && (in + 2 * padding - kernel) / stride + 1 == out ? padding : -1;
}

Result<PoolingWindow> pooling_window(const Operator& op) {
    if (op.cols == 1) return PoolingWindow{op.in_h, op.in_w, 1, 1, 0, 0};
    PoolingWindow out{op.kernel_h, op.kernel_w};
    out.out_h = std::llround(std::sqrt(static_cast<double>(op.cols * op.in_h) / static_cast<double>(op.in_w)));
    out.out_w = out.out_h > 0 ? op.cols / out.out_h : 0;
    out.pad_h = padding_for(op.in_h, out.out_h, op.kernel_h, op.stride);
    out.pad_w = padding_for(op.in_w, out.out_w, op.kernel_w, op.stride);
    if (out.pad_h < 0 || out.pad_w < 0 || 2 * out.pad_h > op.kernel_h || 2 * out.pad_w > op.kernel_w)
        return unavailable(fmt::format("no padding makes {} results of {} x {} pixels", op.cols, op.in_h, op.in_w));
    return out;
}

}  // namespace dlcast
