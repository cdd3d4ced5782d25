// SPDX-License-Identifier: GPL-2.0-or-later
// An operator on one GPU as the step-time model sees it: sizes and counts, before any constant enters.
#pragma once

#include <vector>

#include "predictor/device/device.h"
#include "predictor/model/layer.h"
#include "predictor/step/layout.h"
#include "predictor/timing/operator.h"

namespace dlcast {

/// Products first, then row-wise kinds, the update last.
enum class WorkClass {
    product,
    bmm,
    conv,
    grouped,
    depthwise,
    attention,
    recurrent,
    elementwise,
    norm,
    pooling,
    embedding,
    loss,
    copy,
    update,
    size
};
constexpr bool is_product(WorkClass work) { return work <= WorkClass::recurrent; }

enum class ArithmeticUnit { simt, tf32, half, fp8, size };

/// `count` equal calls.
struct WorkItem {
    WorkClass work = WorkClass::elementwise;
    ArithmeticUnit unit = ArithmeticUnit::simt;
    Phase phase = Phase::forward;
    bool winograd = false;  // a 3 x 3 convolution at stride 1, which fast algorithms serve
    bool strided = false;   // reads across rows
    bool turns = false;     // copies a tensor between channels first and last
    double count = 1.0;
    double kernels = 1.0;  // launches of one call
    double flops = 0.0, bytes = 0.0;
    double accesses = 0.0;   // elements that a row-wise kernel reads and writes
    double reduction = 1.0;  // length of the sums of a product
    double fill = 1.0;       // share of the device that a product's tiles keep busy, at best

    bool operator==(const WorkItem&) const = default;
};

/// One GPU's share of an operator of `layer` (nullptr: the update) under `layout`.
Operator share_of(const Operator& op, const Layer* layer, const Layout& layout);

/// `use` is one GPU's share, of `layer` (nullptr: the update).
WorkItem work_item(const OperatorUse& use, const Layer* layer, const Device& device);

/// Appends, or counts up an equal item, `times` over.
void add_item(std::vector<WorkItem>& list, const WorkItem& item, double times = 1.0);

/// Share of `processors` that out[m,n] = a[m,k] b[k,n], `batch` times, keeps busy with the best of the usual tile
/// shapes: padding of the last tiles, the last wave of tiles, and small tiles reading their operands more often. Few
/// tiles with long sums are split along the sum. Source: NVIDIA, Matrix Multiplication Background User's Guide.
double best_fill(double m, double n, double k, double batch, int processors);

}  // namespace dlcast
