// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/gradient_buckets.h"

#include <algorithm>

#include "predictor/timing/physics.h"

namespace dlcast {
namespace {

constexpr double mebibyte = 1024.0 * 1024.0;

// Autocast leaves gradients in fp32.
double gradient_width(Precision precision) {
    return precision == Precision::fp16 || precision == Precision::bf16 || precision == Precision::fp8 ? 2.0 : 4.0;
}

struct Capacity {
    double first_bytes, other_bytes;
};

Capacity capacity(const SoftwareKind& software, int data_ranks, double width) {
    if (software.horovod) return {64 * mebibyte, 64 * mebibyte};
    if (software.megatron) {
        const double bytes = width * std::max(40e6, 1e6 * data_ranks);
        return {bytes, bytes};
    }
    return {1 * mebibyte, 25 * mebibyte};
}

}  // namespace

std::vector<GradientBucket> gradient_buckets(const ExchangeQuery& q, const MessageTimes& times) {
    const auto& layers = q.workload.model.layers;
    const double width = gradient_width(q.workload.training.precision);
    std::vector<double> seconds(q.lowered.size(), 0.0);
    double all_s = 0;
    for (std::size_t i = 0; i < q.lowered.size(); ++i) {
        for (const OperatorUse& use : q.lowered[i].backward)
            seconds[i] += use.count * roofline_s(q.allocation.device, use.op);
    }
    for (const std::uint32_t place : q.place) all_s += seconds[place];
    const Group& data = q.layout.data;
    const Group same_experts =
        place_ranks(std::max(1, data.ranks() / q.layout.ep), q.layout.tp * q.layout.cp * q.layout.ep, q.allocation);
    const bool shards = q.layout.optimizer_shards > 1;
    const Capacity capacity_bytes = capacity(q.software, data.ranks(), width);
    std::vector<GradientBucket> out;
    double done_s = 0, open_bytes = 0, expert_bytes = 0;
    for (std::size_t i = layers.size(); i-- > 0;) {
        done_s += seconds[q.place[i]];
        if (layers[i].trainable) {
            const double bytes = width * static_cast<double>(layers[i].parameters) * q.stage / q.layout.tp;
            if (layers[i].experts > 0)
                expert_bytes += bytes / q.layout.ep;
            else
                open_bytes += bytes;
        }
        const double full = out.empty() ? capacity_bytes.first_bytes : capacity_bytes.other_bytes;
        if (open_bytes + expert_bytes < full && i > 0) continue;
        if (open_bytes + expert_bytes <= 0) continue;
        // With sharded states each rank keeps the sum of its shard alone.
        const Collective kind = shards ? Collective::reduce_scatter : Collective::all_reduce;
        Message reduce = times.of(kind, open_bytes, data);
        const Message experts = times.of(kind, expert_bytes, same_experts);
        if (experts.alone_s > 0) reduce = {reduce.alone_s + experts.alone_s, std::max(reduce.wire, experts.wire)};
        if (reduce.alone_s > 0) out.push_back({reduce, all_s > 0 ? done_s / all_s : 1.0});
        open_bytes = expert_bytes = 0;
    }
    return out;
}

}  // namespace dlcast
