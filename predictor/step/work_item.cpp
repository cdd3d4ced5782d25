// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/work_item.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "predictor/step/sharding.h"
#include "predictor/timing/physics.h"

namespace dlcast {
namespace {

double real(std::int64_t size) { return static_cast<double>(size); }

struct Product {
    double m = 1, n = 1, k = 1, batch = 1;
};

// A convolution as the matrix product it amounts to; fused attention by its output tiles, which never split sums.
Product as_product(const Operator& op) {
    if (op.kind == OperatorKind::attention) return {real(op.m), real(op.k), 1, real(op.batch)};
    if (op.kind != OperatorKind::conv2d) return {real(op.m), real(op.n), real(op.k), real(op.batch)};
    const double groups = real(std::max<std::int64_t>(1, op.groups));
    const double pixels = real(op.batch) * real(op.out_h) * real(op.out_w);
    const double window = real(op.kernel_h) * real(op.kernel_w);
    const double in = real(op.in_ch) / groups, out = real(op.out_ch) / groups;
    const double stride = real(std::max<std::int64_t>(1, op.stride));
    switch (op.phase) {
        case Phase::backward_data:
            return {real(op.batch) * real(op.in_h) * real(op.in_w), in, out * window / (stride * stride), groups};
        case Phase::backward_weight:
            return {out, in * window, pixels, groups};
        default:
            return {pixels, out, in * window, groups};
    }
}

WorkClass class_of(const Operator& op) {
    switch (op.kind) {
        case OperatorKind::conv2d:
            if (op.groups <= 1) return WorkClass::conv;
            return op.groups == op.in_ch ? WorkClass::depthwise : WorkClass::grouped;
        case OperatorKind::linear:
            return WorkClass::product;
        case OperatorKind::bmm:
            return WorkClass::bmm;
        case OperatorKind::attention:
            return WorkClass::attention;
        case OperatorKind::recurrent:
            return WorkClass::recurrent;
        case OperatorKind::softmax:
        case OperatorKind::layer_norm:
        case OperatorKind::batch_norm:
            return WorkClass::norm;
        case OperatorKind::pooling:
            return WorkClass::pooling;
        case OperatorKind::embedding:
            return WorkClass::embedding;
        case OperatorKind::loss:
            return WorkClass::loss;
        case OperatorKind::copy:
            return WorkClass::copy;
        case OperatorKind::optimizer:
            return WorkClass::update;
        case OperatorKind::elementwise:
        case OperatorKind::dropout:
            return WorkClass::elementwise;
    }
    return WorkClass::elementwise;
}

ArithmeticUnit unit_of(const Operator& op, const Device& device, WorkClass work) {
    if (work == WorkClass::depthwise || work == WorkClass::grouped || !on_tensor_units(device, op))
        return ArithmeticUnit::simt;
    if (op.precision == Precision::tf32) return ArithmeticUnit::tf32;
    const bool fp8 = op.precision == Precision::fp8 && work == WorkClass::product && device.fp8_flops_per_s > 0;
    return fp8 ? ArithmeticUnit::fp8 : ArithmeticUnit::half;
}

double kernels_of(const Operator& op) {
    const bool forward = op.phase == Phase::forward;
    switch (op.kind) {
        case OperatorKind::layer_norm:
        case OperatorKind::embedding:
            return forward ? 1 : 2;
        case OperatorKind::loss:
            return 2;
        case OperatorKind::linear:  // the bias' gradient is a sum of its own
            return op.phase == Phase::backward_weight && op.bias ? 2 : 1;
        case OperatorKind::attention:
            return forward ? 1 : 3;
        case OperatorKind::recurrent:  // a product and the gates, each step
            return real(op.m) * (forward ? 2 : 4);
        default:
            return 1;
    }
}

}  // namespace

double best_fill(double m, double n, double k, double batch, int processors) {
    struct Tile {
        double m, n, attained;
    };
    constexpr std::array<Tile, 8> tiles{{{256, 128, 1.00},
                                         {128, 256, 1.00},
                                         {128, 128, 0.96},
                                         {128, 64, 0.85},
                                         {64, 128, 0.85},
                                         {64, 64, 0.70},
                                         {32, 64, 0.50},
                                         {32, 32, 0.38}}};
    constexpr double shortest_split = 256;
    const double all = std::max(1, processors);
    double best = 1e-4;
    for (const Tile& tile : tiles) {
        double count = std::ceil(m / tile.m) * std::ceil(n / tile.n) * batch;
        const double padding = m * n * batch / (count * tile.m * tile.n);
        if (count < all) count *= std::max(1.0, std::min(std::floor(all / count), std::floor(k / shortest_split)));
        const double waves = count / all;
        best = std::max(best, tile.attained * padding * waves / std::ceil(waves));
    }
    return best;
}

Operator share_of(const Operator& op, const Layer* layer, const Layout& layout) {
    if (!layer) return shard_update(op, layout);
    Layout shares = layout;
    // What acts on the scores of attention is divided as they are.
    if (layer->kind == LayerKind::attention) shares.sequence_parallel = true;
    return shard(op, shares);
}

WorkItem work_item(const OperatorUse& use, const Layer* layer, const Device& device) {
    const Operator& op = use.op;
    WorkItem item;
    item.work = class_of(op);
    item.unit = unit_of(op, device, item.work);
    item.phase = op.phase;
    item.count = use.count;
    item.kernels = kernels_of(op);
    item.flops = total_flops(op);
    item.bytes = total_bytes(op);
    const double width = element_bytes(op.precision);
    if (item.work == WorkClass::product && op.phase == Phase::backward_weight && op.bias)
        item.bytes += width * real(op.k) * real(op.m);  // the bias' gradient reads the output's once more
    if (!is_product(item.work)) {
        const bool cast = op.kind == OperatorKind::copy && op.function == Function::other;
        item.accesses = item.bytes / (cast ? 3.0 : width);  // a cast has a wide and a narrow side
        item.strided = layer && layer->kind == LayerKind::attention && layer->function == "relative";
        item.turns = item.work == WorkClass::copy && !cast && layer && layer->kind == LayerKind::conv2d;
        return item;
    }
    if (item.work == WorkClass::depthwise || item.work == WorkClass::recurrent) return item;
    const Product p = as_product(op);
    item.fill = best_fill(p.m, p.n, p.k, p.batch, device.sm_count);
    if (item.work != WorkClass::attention) item.reduction = std::max(1.0, p.k);
    item.winograd = item.work == WorkClass::conv && op.kernel_h == 3 && op.kernel_w == 3 && op.stride == 1 &&
                    op.phase != Phase::backward_weight;
    return item;
}

void add_item(std::vector<WorkItem>& list, const WorkItem& item, double times) {
    for (WorkItem& known : list) {
        if (known.flops != item.flops || known.bytes != item.bytes) continue;  // most differ here
        const double count = known.count;
        known.count = item.count;
        const bool same = known == item;
        known.count = same ? count + times * item.count : count;
        if (same) return;
    }
    list.push_back(item);
    list.back().count *= times;
}

}  // namespace dlcast
