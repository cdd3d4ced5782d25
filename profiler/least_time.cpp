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
    if (const auto* op = std::get_if<Operator>(&point))
        return (runs_before + fewest_runs) * counted_s(flops(*op)) + making_s(tensor_bytes(*op, true));
    const auto* pass = std::get_if<MeasuredPass>(&point);
    if (pass == nullptr || model == nullptr) return 0.0;
    if (const auto seen = seen_.find({pass->model, pass->batch}); seen != seen_.end())
        return seen->second.prepared_s + (1 + counted_runs) * seen->second.once_s;
    Training training = model->training;
    training.batch_size = pass->batch;
    training.precision = pass->precision;
    const MemoryEstimate need = step_memory(model->model, training, true);
    const double forward = static_cast<double>(pass->batch) * forward_flops(model->model);
    const double step_s = counted_s(3.0 * forward) +  // backward is two forwards
                          making_s(need.gradients_bytes + need.activations_bytes + need.optimizer_bytes);
    return making_s(need.weights_bytes + need.optimizer_bytes) + (runs_before + counted_runs) * step_s;
}

void LeastTime::took(const SamplePoint& point, double prepared_s, double once_s) {
    if (const auto* pass = std::get_if<MeasuredPass>(&point)) seen_[{pass->model, pass->batch}] = {prepared_s, once_s};
}

double LeastTime::counted_s(double work) { return work > 0.0 ? work / flops_per_s() : 0.0; }

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
