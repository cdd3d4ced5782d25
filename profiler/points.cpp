// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/points.h"

#include <fmt/format.h>

#include <algorithm>

#include "predictor/base/json.h"
#include "predictor/samples/operator_json.h"

namespace dlcast {
namespace {

void add_distinct(std::vector<OperatorUse>& list, const OperatorUse& use) {
    const auto same = std::find_if(list.begin(), list.end(), [&](const OperatorUse& u) { return u.op == use.op; });
    if (same == list.end())
        list.push_back(use);
    else
        same->count += use.count;
}

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
    ProfiledModel out{name, workload.model, workload.training, {}, {}, {}};
    for (const LayerOperators& layer : lower(workload.model, workload.training, workload.training.batch_size)) {
        for (const OperatorUse& use : layer.forward) add_distinct(out.forward, use);
        for (const OperatorUse& use : layer.backward) add_distinct(out.backward, use);
    }
    if (!workload.training.forward_only)
        for (const Layer& layer : workload.model.layers)
            if (layer.trainable && (layer.parameters > 0 || layer.tied))
                add_distinct(out.backward, kept_gradient(layer, workload.training.precision));
    for (const OperatorUse& use : lower_update(workload.model, workload.training)) add_distinct(out.update, use);
    return out;
}

std::vector<SamplePoint> points_of(const std::vector<ProfiledModel>& models) {
    std::vector<SamplePoint> out;
    std::vector<OperatorUse> operators;
    for (const ProfiledModel& m : models) {
        for (const Pass pass : {Pass::forward, Pass::backward, Pass::update, Pass::step}) {
            MeasuredPass point;
            point.model = m.name;
            point.batch = m.training.batch_size;
            point.pass = pass;
            point.precision = m.training.precision;
            if (pass == Pass::update || pass == Pass::step) point.optimizer = m.training.optimizer;
            out.emplace_back(point);
        }
        for (const auto* list : {&m.forward, &m.backward, &m.update})
            for (const OperatorUse& use : *list) add_distinct(operators, use);
    }
    std::stable_sort(operators.begin(), operators.end(), [](const OperatorUse& a, const OperatorUse& b) {
        return a.count * cost(a.op) > b.count * cost(b.op);
    });
    for (const OperatorUse& use : operators) out.emplace_back(use.op);
    return out;
}

std::string describe(const SamplePoint& point) { return std::visit(Describe{}, point); }

}  // namespace dlcast
