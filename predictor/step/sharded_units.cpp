// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/sharded_units.h"

#include <algorithm>

#include "predictor/timing/physics.h"

namespace dlcast {
namespace {

struct Unit {
    int block = -1;
    double parameters = 0, forward_s = 0, backward_s = 0;
};

double seconds(const std::vector<OperatorUse>& uses, const Device& device) {
    double sum = 0;
    for (const OperatorUse& use : uses) sum += use.count * roofline_s(device, use.op);
    return sum;
}

std::vector<Unit> units_of(const ExchangeQuery& q) {
    const auto& layers = q.workload.model.layers;
    std::vector<double> forward_s, backward_s;  // of each distinct layer
    for (const LayerOperators& layer : q.lowered) {
        forward_s.push_back(seconds(layer.forward, q.allocation.device));
        backward_s.push_back(seconds(layer.backward, q.allocation.device));
    }
    std::vector<Unit> out;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const int block = layers[i].block;
        if (out.empty() || (block >= 0 && block != out.back().block)) out.push_back({block});
        out.back().parameters += static_cast<double>(layers[i].parameters);
        out.back().forward_s += forward_s[q.place[i]];
        out.back().backward_s += backward_s[q.place[i]];
    }
    return out;
}

}  // namespace

std::vector<ShardedUnit> sharded_units(const ExchangeQuery& q, const MessageTimes& times, bool& gathers_again) {
    const std::string& fsdp = q.workload.training.parallel.fsdp;
    gathers_again = fsdp != "grad_op";
    const double width = element_bytes(q.workload.training.precision);
    Group inside = q.layout.data, between = q.layout.data;
    const bool hybrid = fsdp == "hybrid" && inside.nodes > 1;
    if (hybrid) {
        inside.nodes = 1;
        between.ranks_per_node = 1;
    }
    const std::vector<Unit> units = units_of(q);
    double forward_s = 0, backward_s = 0;
    for (const Unit& unit : units) {
        forward_s += unit.forward_s;
        backward_s += unit.backward_s;
    }
    std::vector<ShardedUnit> out;
    out.reserve(units.size());
    for (const Unit& unit : units) {
        const double bytes = width * unit.parameters * q.stage / q.layout.tp;
        ShardedUnit one;
        // Blocks are alike, and so are their messages.
        const bool again = &unit != units.data() && (&unit)[-1].parameters == unit.parameters;
        if (again) one = out.back();
        if (!again) one.gather = times.of(Collective::all_gather, bytes, inside);
        if (!again) one.scatter = times.of(Collective::reduce_scatter, bytes, inside);
        if (!again && hybrid) {
            const Message sum = times.of(Collective::all_reduce, bytes / inside.ranks(), between);
            one.scatter = {one.scatter.alone_s + sum.alone_s, sum.wire};
        }
        one.forward_share = forward_s > 0 ? unit.forward_s / forward_s : 0;
        one.backward_share = backward_s > 0 ? unit.backward_s / backward_s : 0;
        out.push_back(one);
    }
    return out;
}

}  // namespace dlcast
