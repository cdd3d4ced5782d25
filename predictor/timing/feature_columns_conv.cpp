// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <array>
#include <cmath>

#include "predictor/timing/feature_columns.h"

namespace dlcast {
namespace {

using namespace columns;

double mean_side(std::int64_t a, std::int64_t b) { return std::sqrt(static_cast<double>(a) * static_cast<double>(b)); }

double block_fill(double side, double block) {
    const double covered = std::ceil(std::max(side, 1.0) / block) * block;
    return side * side / (covered * covered);
}

double fill(double size, double step) { return size / (std::ceil(std::max(size, 1.0) / step) * step); }

// Winograd computes 2 x 2, 4 x 4 or 6 x 6 outputs at a time, FFT blocks of 32 x 32 inputs or the whole image padded to
// a power of two: what of them is of use, and the products over blocks and channels that are left, as tiles over the
// multiprocessors. Those of the FFT run over the samples at each frequency, 8, 16 or 32 at a time.
void put_transforms(ColumnWriter& w, const Operator& op, const Device& device, double batch, double in, double out,
                    double kernel) {
    const double channels = static_cast<double>(op.out_ch), fft_step = std::max(33.0 - kernel, 1.0);
    const double padded = in + kernel - 1.0, whole = std::exp2(std::ceil(std::log2(std::max(padded, 1.0))));
    const auto blocks = [&](double step) { return batch * std::pow(std::ceil(std::max(out, 1.0) / step), 2.0); };
    w.put("winograd_fill_2", block_fill(out, 2.0));
    w.put("winograd_fill_4", block_fill(out, 4.0));
    w.put("winograd_fill_6", block_fill(out, 6.0));
    w.put("fft_fill_32", block_fill(out, fft_step));
    w.put("fft_fill_whole", std::pow(padded / whole, 2.0));
    put_waves(w, "waves_winograd", "wave_fill_winograd", tile_waves(1.0, blocks(4.0), channels, 32, 64, device));
    w.put("log_winograd_blocks", log_size(blocks(4.0)));
    w.put("log_fft_blocks", log_size(blocks(fft_step)));
    put_waves(w, "waves_fft", "wave_fill_fft", blocks(fft_step) * channels / (32.0 * multiprocessors(device)));
    w.put("batch_fill_8", fill(batch, 8.0));
    w.put("batch_fill_16", fill(batch, 16.0));
    w.put("batch_fill_32", fill(batch, 32.0));
}

}  // namespace

bool winograd_may_run(const Operator& op) {
    return op.kernel_h == 3 && op.kernel_w == 3 && op.stride == 1 && op.groups == 1;
}

bool fft_may_run(const Operator& op) {
    return std::min(op.kernel_h, op.kernel_w) >= 4 && op.stride == 1 && op.groups == 1;
}

void columns::put_conv(ColumnWriter& w, const OperatorQuery& q) {
    const Operator& op = *q.op;
    const double batch = static_cast<double>(op.batch),
                 groups = static_cast<double>(std::max<std::int64_t>(op.groups, 1));
    const double cin = static_cast<double>(op.in_ch), cout = static_cast<double>(op.out_ch);
    const double in = mean_side(op.in_h, op.in_w), out = mean_side(op.out_h, op.out_w);
    const double kernel = mean_side(op.kernel_h, op.kernel_w), taps = kernel * kernel;
    const double m = batch * out * out, k = cin / groups * taps, n = cout / groups;
    w.put("log_batch", log_size(batch));
    w.put("log_in_channels", log_size(cin));
    w.put("log_out_channels", log_size(cout));
    w.put("log_in_side", log_size(in));
    w.put("log_out_side", log_size(out));
    w.put("log_kernel", log_size(kernel));
    w.put("log_stride", log_size(static_cast<double>(op.stride)));
    w.put("log_groups", log_size(groups));
    w.put("log_input", log_size(batch * cin * in * in));
    w.put("log_output", log_size(batch * cout * out * out));
    w.put("log_weights", log_size(k * cout));
    w.put("log_m", log_size(m));
    w.put("log_k", log_size(k));
    // Column buffer of an explicit im2col against the arithmetic.
    w.put("log_im2col_over_flops", log_size(m * k) - log_size(m * k * cout));
    put_alignment(w, "in_channels_by_4", "in_channels_by_32", op.in_ch);
    put_alignment(w, "out_channels_by_4", "out_channels_by_32", op.out_ch);
    w.flag("out_side_by_4", op.out_w % 4 == 0);
    constexpr std::array<const char*, 8> kernels{"",         "kernel_1", "kernel_2", "kernel_3",
                                                 "kernel_4", "kernel_5", "kernel_6", "kernel_7"};
    for (std::size_t side = 1; side < kernels.size(); ++side) {
        w.flag(kernels[side], std::lround(kernel) == static_cast<long>(side));
    }
    constexpr std::array<const char*, 5> strides{"", "stride_1", "stride_2", "stride_3", "stride_4"};
    for (std::size_t step = 1; step < strides.size(); ++step)
        w.flag(strides[step], op.stride == static_cast<std::int64_t>(step));
    w.flag("padded", (op.out_w - 1) * op.stride + op.kernel_w > op.in_w);
    put_transforms(w, op, *q.device, batch, in, out, kernel);
    w.flag("winograd", winograd_may_run(op));
    w.flag("fft", fft_may_run(op));
    put_tiles(w, groups, m, n, *q.device);
    put_gradient_tiles(w, groups, m, k, n, *q.device);
    w.put("log_intensity", log_intensity(q), Figure::rates, 0.15);
    w.flag("bias", op.bias);
    put_activation(w, op.function);
    w.flag("gradient", op.phase != Phase::forward);
    w.flag("session", q.clock == Clock::session);
    put_device(w, *q.device);
}

}  // namespace dlcast
