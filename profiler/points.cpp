// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/points.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "predictor/base/json.h"
#include "predictor/samples/operator_json.h"

namespace dlcast {
namespace {

// Equal operators as one, in the order in which they came.
class DistinctUses {
public:
    void add(const OperatorUse& use) {
        const auto [place, is_new] = places_.try_emplace(use.op, uses_.size());
        if (is_new)
            uses_.push_back(use);
        else
            uses_[place->second].count += use.count;
    }
    void add(const std::vector<OperatorUse>& uses) {
        for (const OperatorUse& use : uses) add(use);
    }
    std::vector<OperatorUse> take() { return std::move(uses_); }

private:
    struct Hash {
        std::size_t operator()(const Operator& op) const { return hash_of(op); }
    };
    std::vector<OperatorUse> uses_;
    std::unordered_map<Operator, std::size_t, Hash> places_;
};

// Backward adds each new gradient to the one kept; a weight that two layers share gets one more sum.
OperatorUse kept_gradient(const Layer& layer, Precision precision) {
    Operator op;
    op.kind = OperatorKind::elementwise;
    op.phase = Phase::backward;
    op.precision = precision;
    op.function = Function::add;
    op.rows = static_cast<std::int64_t>(layer.parameters);
    if (layer.tied) op.rows = layer.input.back() * layer.output.back();
    op.cols = 1;
    return {op, 1.0};
}

// Of no device in particular: floating-point operations against bytes, ten to one.
double cost(const Operator& op) { return std::max(flops(op), 10.0 * bytes(op)); }

struct Describe {
    std::string operator()(const Operator& op) const {
        std::string sizes;
        const Value fields = operator_value(op);
        for (const Value::Member& member : fields.as_object())
            if (member.key != "kind" && member.key != "phase" && member.key != "precision")
                sizes += fmt::format("{}{} {}", sizes.empty() ? "" : ", ", member.key,
                                     member.value.is_string() ? member.value.as_string() : write_json(member.value));
        return fmt::format("{} {} {} ({})", to_string(op.kind), to_string(op.phase), to_string(op.precision), sizes);
    }
    std::string operator()(const MeasuredCollective& c) const {
        return fmt::format("{} of {} bytes over {} ranks on {} nodes",
                           collective_names[static_cast<std::size_t>(c.collective)], c.bytes, c.ranks, c.nodes);
    }
    std::string operator()(const MeasuredPass& p) const {
        return fmt::format("{} {} (batch {}, {})", p.model, to_string(p.pass), p.batch, to_string(p.precision));
    }
};

}  // namespace

ProfiledModel profiled_model(const std::string& name, const Workload& workload) {
    DistinctUses forward, backward, update;
    for (const LayerOperators& layer : lower(workload.model, workload.training, workload.training.batch_size)) {
        forward.add(layer.forward);
        backward.add(layer.backward);
    }
    if (!workload.training.forward_only)
        for (const Layer& layer : workload.model.layers)
            if (layer.trainable && (layer.parameters > 0 || layer.tied))
                backward.add(kept_gradient(layer, workload.training.precision));
    update.add(lower_update(workload.model, workload.training));
    return {name, workload.model, workload.training, forward.take(), backward.take(), update.take()};
}

std::vector<SamplePoint> points_of(const std::vector<ProfiledModel>& models) {
    std::vector<SamplePoint> out;
    DistinctUses distinct;
    for (const ProfiledModel& m : models) {
        for (const Pass pass : all_passes) out.emplace_back(pass_of(m, pass));
        for (const auto* list : {&m.forward, &m.backward, &m.update}) distinct.add(*list);
    }
    std::vector<OperatorUse> operators = distinct.take();
    std::stable_sort(operators.begin(), operators.end(), [](const OperatorUse& a, const OperatorUse& b) {
        return a.count * cost(a.op) > b.count * cost(b.op);
    });
    for (const OperatorUse& use : operators) out.emplace_back(use.op);
    return out;
}

MeasuredPass pass_of(const ProfiledModel& model, Pass pass) {
    MeasuredPass out;
    out.model = model.name;
    out.batch = model.training.batch_size;
    out.pass = pass;
    out.precision = model.training.precision;
    if (pass == Pass::update || pass == Pass::step) out.optimizer = model.training.optimizer;
    return out;
}

std::string describe(const SamplePoint& point) { return std::visit(Describe{}, point); }

}  // namespace dlcast
