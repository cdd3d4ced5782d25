// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/timing/features.h"

#include <algorithm>
#include <cmath>

#include "predictor/timing/feature_columns.h"
#include "predictor/timing/operator_slot.h"
#include "predictor/timing/physics.h"

namespace dlcast {
namespace {

double log_time(double seconds) { return std::log(std::max(1e-12, seconds)); }

// Traffic where a part of the working set is still in the second-level cache, which gives 32 bytes a multiprocessor and
// clock. On A100 and H100 each half of the cache serves one half of the chip, so only half of it helps.
double cached_memory_s(const Device& device, double moved) {
    const bool two_partitions = device.compute_capability == 8.0 || device.compute_capability == 9.0;
    const double cache = device.l2_bytes * (two_partitions ? 0.5 : 1.0);
    const double rate = std::max(device.sm_count * device.boost_clock_Hz * 32.0, device.memory_bandwidth_Bps);
    const double hit = 1.0 / (1.0 + std::pow(moved / std::max(cache, 1.0), 3.0));
    return moved * ((1.0 - hit) / device.memory_bandwidth_Bps + hit / rate);
}

// Winograd's F(4x4, 3x3) saves up to 4 of the multiplications (2.5 with its transforms), FFT more with larger kernels.
// Source: Lavin & Gray, CVPR 2016; Mathieu, Henaff & LeCun, ICLR 2014. Half precision on tensor units gains nothing.
double arithmetic_saving(const OperatorQuery& q) {
    const Operator& op = *q.op;
    if (op.kind != OperatorKind::conv2d || on_tensor_units(*q.device, op)) return 1.0;
    if (winograd_may_run(op)) return 2.5;
    if (fft_may_run(op)) return std::min(static_cast<double>(op.kernel_h * op.kernel_w) / 5.0, 6.0);
    return 1.0;
}

// Elements that one update of a tensor touches, per element of it.
double update_accesses(Optimizer optimizer) {
    switch (optimizer) {
        case Optimizer::none:
            return 0.0;
        case Optimizer::sgd:
            return 3.0;
        case Optimizer::momentum:
        case Optimizer::adagrad:
            return 5.0;
        default:
            return 8.0;
    }
}

// Justus et al. update the weights and, besides, the benchmark's own input and target tensors.
double measured_update_s(const OperatorQuery& q) {
    const Operator& op = *q.op;
    if (op.phase != Phase::train_step || q.clock != Clock::session) return 0.0;
    const double elements = total_bytes(op) / 3.0 / 4.0;
    return update_accesses(op.optimizer) * 4.0 * elements / q.device->memory_bandwidth_Bps;
}

PhysicsColumns physics_of(Net net, const OperatorQuery& q) {
    const Bounds b = bounds(*q.device, *q.op);
    const double memory_s = net == Net::memory ? cached_memory_s(*q.device, total_bytes(*q.op)) : b.memory_s;
    return {static_cast<float>(log_time(b.compute_s)),
            static_cast<float>(log_time(memory_s)),
            static_cast<float>(-std::log(arithmetic_saving(q))),
            q.clock == Clock::session ? 1.0f : 0.0f,
            static_cast<float>(measured_update_s(q)),
            q.clock == Clock::kernel ? 0.0f : 1.0f};
}

std::int32_t launch_index(const OperatorQuery& q) {
    if (q.clock == Clock::session) return operator_slots + static_cast<std::int32_t>(q.op->optimizer);
    return static_cast<std::int32_t>(operator_slot(*q.op));
}

std::vector<FeatureColumn> named_columns(Net net) {
    Operator op;
    op.kind = net == Net::conv      ? OperatorKind::conv2d
              : net == Net::product ? OperatorKind::linear
                                    : OperatorKind::elementwise;
    op.m = op.k = op.n = op.rows = op.cols = op.in_ch = op.out_ch = 1;
    op.in_h = op.in_w = op.out_h = op.out_w = op.kernel_h = op.kernel_w = 1;
    Device device;
    device.sm_count = 1;
    device.memory_bandwidth_Bps = device.fp32_flops_per_s = 1.0;
    std::vector<float> values;
    std::vector<FeatureColumn> columns;
    ColumnWriter writer(values, &columns);
    put_features(writer, net, {&op, &device});
    return columns;
}

}  // namespace

const char* to_string(Net net) {
    switch (net) {
        case Net::conv:
            return "conv";
        case Net::product:
            return "product";
        case Net::memory:
            return "memory";
    }
    return "";
}

std::optional<Net> net_of(const Operator& op) {
    switch (op.kind) {
        case OperatorKind::conv2d:
            return Net::conv;
        case OperatorKind::linear:
        case OperatorKind::bmm:
            return Net::product;
        // No table of measured operators holds these.
        case OperatorKind::attention:
        case OperatorKind::recurrent:
        case OperatorKind::pooling:
        case OperatorKind::batch_norm:
        case OperatorKind::copy:
        case OperatorKind::loss:
            return std::nullopt;
        default:
            return Net::memory;
    }
}

const std::vector<FeatureColumn>& feature_columns(Net net) {
    static const std::vector<FeatureColumn> columns[net_count] = {named_columns(Net::conv), named_columns(Net::product),
                                                                  named_columns(Net::memory)};
    return columns[static_cast<std::size_t>(net)];
}

FeatureTable::FeatureTable(Net which) : net(which), columns(static_cast<int>(feature_columns(which).size())) {}

void FeatureTable::append(const OperatorQuery& query, std::int32_t group_index) {
    ColumnWriter writer(features, nullptr);
    put_features(writer, net, query);
    physics.push_back(physics_of(net, query));
    launch.push_back(launch_index(query));
    optimizer.push_back(static_cast<std::int32_t>(query.op->optimizer));
    group.push_back(group_index);
}

}  // namespace dlcast
