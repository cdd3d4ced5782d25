// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/least_time.h"

#include <algorithm>
#include <limits>

#include "profiler/memory_check.h"
#include "profiler/repeat.h"

namespace dlcast {
namespace {

constexpr double soon_made_bytes = 64 << 20;

}  // namespace

double wall_s(PreparedWork& work) {
    const double begin_s = steady_now_s();
    (void)work.run_s();
    return steady_now_s() - begin_s;
}

double LeastTime::of_s(const SamplePoint& point, const ProfiledModel* model) {
    double work = 0.0, made_bytes = 0.0, seen_s = 0.0;
    if (const auto* op = std::get_if<Operator>(&point)) {
        work = flops(*op);
        made_bytes = tensor_bytes(*op, true);
    }
    if (const auto* pass = std::get_if<MeasuredPass>(&point); pass != nullptr && model != nullptr) {
        work = 3.0 * static_cast<double>(pass->batch) * forward_flops(model->model);  // backward is two forwards
        made_bytes = element_bytes(pass->precision) * static_cast<double>(model->model.parameters);
        if (const auto known = step_s_.find({pass->model, pass->batch}); known != step_s_.end()) seen_s = known->second;
    }
    const double counted_s = work > 0.0 ? (runs_before + fewest_runs) * work / flops_per_s() : 0.0;
    return std::max(counted_s, fewest_runs * seen_s) + making_s(made_bytes);
}

void LeastTime::took(const SamplePoint& point, double once_s) {
    if (const auto* pass = std::get_if<MeasuredPass>(&point)) step_s_[{pass->model, pass->batch}] = once_s;
}

double LeastTime::making_s(double tensor_bytes) {
    if (tensor_bytes < soon_made_bytes) return 0.0;
    if (made_Bps_ <= 0.0) {
        Operator sum;
        sum.function = Function::add;
        sum.rows = 1 << 20;
        sum.cols = 1;
        const double begin_s = steady_now_s();
        const auto work = backend_.prepare(sum);
        // Preparing is more than making tensors up, and half of an operator's tensors are results: at the least half.
        constexpr double share = 0.5;
        made_Bps_ = work ? bytes(sum) / (share * (steady_now_s() - begin_s)) : std::numeric_limits<double>::infinity();
    }
    return tensor_bytes / made_Bps_;
}

double LeastTime::flops_per_s() {
    if (flops_per_s_ > 0.0) return flops_per_s_;
    Operator product;
    product.kind = OperatorKind::linear;
    product.m = product.k = product.n = 512;
    const auto work = backend_.prepare(product);
    constexpr int runs = 3;
    for (int i = 0; work && i < runs; ++i) flops_per_s_ = std::max(flops_per_s_, flops(product) / (*work)->run_s());
    if (flops_per_s_ <= 0.0) flops_per_s_ = std::numeric_limits<double>::infinity();  // no products: nothing is known
    return flops_per_s_;
}

}  // namespace dlcast
