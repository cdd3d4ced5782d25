// SPDX-License-Identifier: GPL-2.0-or-later
// The columns of the three networks, in order. Whoever changes one raises feature_schema.
#include "predictor/timing/feature_columns.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "predictor/timing/operator_slot.h"
#include "predictor/timing/physics.h"

namespace dlcast {
namespace {

double multiprocessors(const Device& device) { return std::max(device.sm_count, 1); }

double log_size(double size) { return std::log(std::max(size, 1.0)); }

// The order in which generations got better at the same sheet figures; between seen ones a newcomer is an
// interpolation.
double generation(const Device& device) {
    struct Entry {
        std::string_view architecture;
        double value;
    };
    constexpr std::array<Entry, 12> order{{{"kepler", 0.0},
                                           {"maxwell", 1.8},
                                           {"pascal", 2.0},
                                           {"volta", 2.8},
                                           {"turing", 3.0},
                                           {"ampere", 3.5},
                                           {"ada", 4.0},
                                           {"hopper", 4.0},
                                           {"blackwell", 4.0},
                                           {"cdna1", 3.0},
                                           {"cdna2", 3.3},
                                           {"cdna3", 3.6}}};
    for (const Entry& e : order) {
        if (e.architecture == device.architecture) return e.value;
    }
    return 4.0;
}

// How an m x n result falls into tiles, and the tiles over the multiprocessors.
struct Tile {
    int rows, cols;
    const char *waves, *wave_fill, *tile_fill;
};
constexpr std::array<Tile, 5> tiles{{{128, 128, "waves_128x128", "wave_fill_128x128", "tile_fill_128x128"},
                                     {64, 64, "waves_64x64", "wave_fill_64x64", "tile_fill_64x64"},
                                     {128, 64, "waves_128x64", "wave_fill_128x64", "tile_fill_128x64"},
                                     {32, 32, "waves_32x32", "wave_fill_32x32", "tile_fill_32x32"},
                                     {256, 128, "waves_256x128", "wave_fill_256x128", "tile_fill_256x128"}}};

void put_tiles(ColumnWriter& w, double batch, double m, double n, const Device& device) {
    for (const Tile& tile : tiles) {
        const double down = std::ceil(std::max(m, 1.0) / tile.rows), across = std::ceil(std::max(n, 1.0) / tile.cols);
        const double waves = std::max(batch, 1.0) * down * across / multiprocessors(device);
        w.put(tile.waves, std::log(waves), 0.1);
        w.put(tile.wave_fill, waves / std::ceil(waves), 0.03);
        w.put(tile.tile_fill, std::max(m, 1.0) * std::max(n, 1.0) / (down * tile.rows * across * tile.cols));
    }
}

void put_alignment(ColumnWriter& w, std::string_view by_4, std::string_view by_32, std::int64_t size) {
    w.flag(by_4, size % 4 == 0);
    w.flag(by_32, size % 32 == 0);
}

void put_activation(ColumnWriter& w, Function f) {
    w.flag("relu", f == Function::relu);
    w.flag("tanh", f == Function::tanh);
    w.flag("sigmoid", f == Function::sigmoid || f == Function::silu || f == Function::gelu);
}

void put_device(ColumnWriter& w, const Device& device) {
    w.put("generation", generation(device), 0.2);
    w.put("amd", device.vendor == "amd" ? 1.0 : 0.0, 0.05);
}

// The networks learnt from fp32 rows: in another precision they still judge shapes, beside the fp32 time of the device,
// and the sustained rate of the precision enters by formula.
double log_intensity(const OperatorQuery& q) {
    Operator plain = *q.op;
    plain.precision = Precision::fp32;
    const Bounds b = bounds(*q.device, plain);
    // In this order std::max turns what is not a number (no size, no rate) into the small one.
    return std::log(std::max(1e-12, b.compute_s) / std::max(1e-12, b.memory_s));
}

void put_product(ColumnWriter& w, const OperatorQuery& q) {
    const Operator& op = *q.op;
    const double b = op.kind == OperatorKind::bmm ? static_cast<double>(op.batch) : 1.0;
    const double md = static_cast<double>(op.m), kd = static_cast<double>(op.k), nd = static_cast<double>(op.n);
    w.put("log_m", log_size(md));
    w.put("log_k", log_size(kd));
    w.put("log_n", log_size(nd));
    w.put("log_batch", log_size(b));
    w.put("log_out", log_size(b * md * nd));
    w.put("log_in", log_size(b * (md * kd + kd * nd)));
    put_alignment(w, "m_by_4", "m_by_32", op.m);
    put_alignment(w, "k_by_4", "k_by_32", op.k);
    put_alignment(w, "n_by_4", "n_by_32", op.n);
    put_tiles(w, b, md, nd, *q.device);
    w.put("log_intensity", log_intensity(q), 0.1);
    w.flag("bmm", op.kind == OperatorKind::bmm);
    w.flag("bias", op.bias);
    put_activation(w, op.function);
    w.flag("backward", op.phase == Phase::backward);
    w.flag("train_step", op.phase == Phase::train_step);
    w.flag("in_model", q.clock == Clock::kernel);
    w.flag("session", q.clock == Clock::session);
    put_device(w, *q.device);
}

double mean_side(std::int64_t a, std::int64_t b) { return std::sqrt(static_cast<double>(a) * static_cast<double>(b)); }

double block_fill(double side, double block) {
    const double covered = std::ceil(std::max(side, 1.0) / block) * block;
    return side * side / (covered * covered);
}

void put_conv(ColumnWriter& w, const OperatorQuery& q) {
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
    // Winograd computes 2 x 2 or 4 x 4 outputs at a time, FFT blocks of 32 x 32 inputs: what of them is of use.
    w.put("winograd_fill_2", block_fill(out, 2.0));
    w.put("winograd_fill_4", block_fill(out, 4.0));
    w.put("fft_fill_32", block_fill(out, std::max(33.0 - kernel, 1.0)));
    w.flag("winograd", winograd_may_run(op));
    w.flag("fft", fft_may_run(op));
    put_tiles(w, groups, m, n, *q.device);
    w.put("log_intensity", log_intensity(q), 0.1);
    w.flag("bias", op.bias);
    put_activation(w, op.function);
    w.flag("gradient", op.phase != Phase::forward);
    w.flag("session", q.clock == Clock::session);
    put_device(w, *q.device);
}

void put_memory(ColumnWriter& w, const OperatorQuery& q) {
    const Operator& op = *q.op;
    const double rows = static_cast<double>(std::max<std::int64_t>(op.rows, 1));
    const double cols = static_cast<double>(std::max<std::int64_t>(op.cols, 1));
    const double elements = rows * cols;
    const double moved = total_bytes(op);
    const OperatorSlot slot = operator_slot(op);
    w.put("log_rows", log_size(rows));
    w.put("log_cols", log_size(cols));
    w.put("log_elements", log_size(elements));
    w.put("log_vocab", log_size(static_cast<double>(op.vocab)));
    w.flag("cols_by_4", op.cols % 4 == 0);
    w.flag("cols_by_32", op.cols % 32 == 0);
    w.flag("cols_by_128", op.cols % 128 == 0);
    w.flag("elements_by_4", (op.rows % 4) * (op.cols % 4) % 4 == 0);
    // PyTorch computes a softmax row of up to 1024 elements inside one warp, in registers, padded to a power of two.
    w.flag("row_in_warp", op.cols <= 1024);
    w.put("row_fill", cols / std::exp2(std::ceil(std::log2(cols))));
    // Kernels of 1024 elements a block, sixteen blocks on a multiprocessor.
    const double blocks = std::ceil(elements / 1024.0), resident = 16.0 * multiprocessors(*q.device);
    w.put("waves_blocks", std::log(blocks / resident), 0.1);
    w.put("wave_fill_blocks", blocks / resident / std::ceil(blocks / resident), 0.03);
    w.put("waves_rows", std::log(rows / multiprocessors(*q.device)), 0.1);
    w.put("log_bytes_over_cache", std::log(moved / std::max(q.device->l2_bytes, 1e5)), 0.2);
    for (std::size_t i = 0; i < memory_slot_names.size(); ++i)
        w.flag(memory_slot_names[i], slot == static_cast<OperatorSlot>(i));
    w.flag("backward", op.phase != Phase::forward && op.phase != Phase::update);
    w.flag("in_model", q.clock == Clock::kernel);
    put_device(w, *q.device);
}

}  // namespace

bool winograd_may_run(const Operator& op) {
    return op.kernel_h == 3 && op.kernel_w == 3 && op.stride == 1 && op.groups == 1;
}

bool fft_may_run(const Operator& op) {
    return std::min(op.kernel_h, op.kernel_w) >= 4 && op.stride == 1 && op.groups == 1;
}

void put_features(ColumnWriter& w, Net net, const OperatorQuery& q) {
    if (net == Net::conv) put_conv(w, q);
    if (net == Net::product) put_product(w, q);
    if (net == Net::memory) put_memory(w, q);
}

}  // namespace dlcast
