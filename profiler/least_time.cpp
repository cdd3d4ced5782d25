// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/least_time.h"

#include <algorithm>
#include <limits>

namespace dlcast {

double LeastTime::of_s(const SamplePoint& point, const ProfiledModel* model) {
    double work = 0.0, seen_s = 0.0;
    if (const auto* op = std::get_if<Operator>(&point)) work = flops(*op);
    if (const auto* pass = std::get_if<MeasuredPass>(&point); pass != nullptr && model != nullptr) {
        work = 3.0 * static_cast<double>(pass->batch) * forward_flops(model->model);  // backward is two forwards
        if (const auto known = step_s_.find({pass->model, pass->batch}); known != step_s_.end()) seen_s = known->second;
    }
    const double counted_s = work > 0.0 ? (runs_before + fewest_runs) * work / flops_per_s() : 0.0;
    return std::max(counted_s, fewest_runs * seen_s);
}

void LeastTime::took(const SamplePoint& point, double once_s) {
    if (const auto* pass = std::get_if<MeasuredPass>(&point)) step_s_[{pass->model, pass->batch}] = once_s;
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
