// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <array>
#include <cmath>

#include "predictor/timing/feature_columns.h"
#include "predictor/timing/operator_slot.h"
#include "predictor/timing/physics.h"

namespace dlcast {
namespace {

using namespace columns;

// Threads that one multiprocessor holds. Source: CUDA C++ Programming Guide, technical specifications by compute
// capability; AMD CDNA: 32 waves of 64 a compute unit.
double resident_threads(const Device& device) {
    if (device.vendor != "nvidia") return 2048.0;
    if (device.compute_capability == 7.5) return 1024.0;
    const bool graphics = device.compute_capability == 8.6 || device.compute_capability == 8.9;
    return graphics || device.compute_capability >= 12.0 ? 1536.0 : 2048.0;
}

// Blocks that PyTorch's kernels of this operator start, and threads in each: softmax of short rows four warps with one
// row each (two where they have at most 128 elements), of long ones a block a row; layer norm 128 threads a row; the
// rest 128 threads of four elements.
struct RowKernel {
    double blocks, threads;
};
RowKernel row_kernel(const Operator& op) {
    const double rows = static_cast<double>(std::max<std::int64_t>(op.rows, 1));
    const double cols = static_cast<double>(std::max<std::int64_t>(op.cols, 1));
    if (op.kind == OperatorKind::layer_norm) return {rows, 128.0};
    if (op.kind == OperatorKind::softmax || op.kind == OperatorKind::loss) {
        if (cols <= 1024.0) return {std::ceil(rows / (cols <= 128.0 ? 8.0 : 4.0)), 128.0};
        return {rows, std::min(32.0 * std::ceil(cols / 128.0), 1024.0)};
    }
    return {std::ceil(rows * cols / 512.0), 128.0};
}

}  // namespace

void columns::put_memory(ColumnWriter& w, const OperatorQuery& q) {
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
    const RowKernel kernel = row_kernel(op);
    const double resident = multiprocessors(*q.device) * resident_threads(*q.device) / kernel.threads;
    put_waves(w, "waves_blocks", "wave_fill_blocks", kernel.blocks / resident);
    w.put("log_blocks_over_processors", std::log(kernel.blocks / multiprocessors(*q.device)), Figure::processors, 0.15);
    w.put("row_passes", log_size(std::ceil(cols / (4.0 * kernel.threads))));
    w.put("row_pass_fill", cols / (4.0 * kernel.threads * std::ceil(cols / (4.0 * kernel.threads))));
    w.put("waves_rows", std::log(rows / multiprocessors(*q.device)), Figure::processors, 0.15);
    w.put("log_bytes_over_cache", std::log(moved / std::max(q.device->l2_bytes, 1e5)), Figure::cache, 0.2);
    for (std::size_t i = 0; i < memory_slot_names.size(); ++i)
        w.flag(memory_slot_names[i], slot == static_cast<OperatorSlot>(i));
    w.flag("backward", op.phase != Phase::forward && op.phase != Phase::update);
    w.flag("in_model", q.clock == Clock::kernel);
    put_device(w, *q.device);
}

}  // namespace dlcast
