// SPDX-License-Identifier: GPL-2.0-or-later
// ONNX operators that make, copy, compare and describe tensors (opset 9 to 21): constants, and numbers that are shapes.
#include <algorithm>

#include "predictor/model/onnx_graph.h"

namespace dlcast {
namespace {

void follow_identity(OnnxFollower& f, const OnnxNode& node) { f.output(node, f.input(node, 0)); }

void follow_named_copy(OnnxFollower& f, const OnnxNode& node) {
    OnnxValue out = f.input(node, 0);
    if (!node.outputs.empty()) out.part = f.learned().copy(out.part, node.outputs[0]);
    f.output(node, std::move(out));
}

void follow_constant(OnnxFollower& f, const OnnxNode& node) {
    OnnxValue out;
    out.weight = out.constant = true;
    if (const OnnxAttribute* tensor = node.find("value"); tensor && tensor->tensor) {
        out.shape = tensor->tensor->shape;
        out.values = tensor->tensor->values;
        out.reals = tensor->tensor->reals;
        if (tensor->tensor->real && !node.outputs.empty())
            out.part = f.learned().tensor(node.outputs[0], out.shape, true);
    } else if (const OnnxAttribute* ints = node.find("value_ints")) {
        out.shape = {static_cast<std::int64_t>(ints->integers.size())};
        out.values = ints->integers;
    } else if (const OnnxAttribute* one = node.find("value_int")) {
        out.values = Sizes{one->integer};
    }
    f.output(node, std::move(out));
}

void follow_shape(OnnxFollower& f, const OnnxNode& node) {
    const Sizes shape = f.input(node, 0).shape;
    const auto rank = static_cast<std::int64_t>(shape.size());
    const auto clip = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank); };
    const std::int64_t start = clip(node.integer_or("start", 0)),
                       end = std::max(start, clip(node.integer_or("end", rank)));
    OnnxValue out;
    out.values = Sizes(shape.begin() + start, shape.begin() + end);
    out.shape = {end - start};
    f.output(node, std::move(out));
}

void follow_constant_of_shape(OnnxFollower& f, const OnnxNode& node) {
    const auto& wanted = f.input(node, 0).values;
    if (!wanted) return f.fail(node, "its shape is computed by the graph; export with fixed shapes");
    OnnxValue out{*wanted, {}, true};
    out.constant = true;
    const OnnxAttribute* value = node.find("value");
    const bool known = value && value->tensor && value->tensor->values && value->tensor->values->size() == 1;
    if (count_of(*wanted) <= most_onnx_values && count_of(*wanted) >= 0)
        out.values = Sizes(static_cast<std::size_t>(count_of(*wanted)), known ? value->tensor->values->front() : 0);
    f.output(node, std::move(out));
}

void follow_range(OnnxFollower& f, const OnnxNode& node) {
    const auto first = f.input(node, 0).values, limit = f.input(node, 1).values, step = f.input(node, 2).values;
    if (!first || !limit || !step || first->size() != 1 || limit->size() != 1 || step->size() != 1 ||
        step->front() == 0)
        return f.fail(node, "its bounds are computed by the graph; export with fixed shapes");
    const double length = (static_cast<double>(limit->front()) - static_cast<double>(first->front())) /
                          static_cast<double>(step->front());
    if (length > 1e9) return f.fail(node, "makes over 1e9 elements; export with a smaller input");
    f.output(node, {{static_cast<std::int64_t>(std::max(0.0, length))}, {}, true});
}

// Truth, and what is made of it: shapes alone.
void follow_comparison(OnnxFollower& f, const OnnxNode& node) {
    const OnnxValue& first = f.input(node, 0);
    OnnxValue out{first.shape, {}, first.weight};
    for (std::size_t i = 1; i < node.inputs.size() && !f.failed(); ++i) {
        const auto shape = broadcast(out.shape, f.input(node, i).shape);
        if (!shape) return f.fail(node, "the shapes do not fit");
        out.shape = *shape;
        out.weight = out.weight && f.input(node, i).weight;
    }
    f.output(node, std::move(out));
}

// Where on numbers that are shapes picks them one by one. A learned tensor for some places (the token of a mask) is
// read with the data.
void follow_where(OnnxFollower& f, const OnnxNode& node) {
    const OnnxValue a = f.input(node, 1), b = f.input(node, 2);
    const auto shape = broadcast(a.shape, b.shape);
    const auto whole = shape ? broadcast(*shape, f.input(node, 0).shape) : shape;
    if (!whole) return f.fail(node, "the shapes do not fit");
    OnnxValue out{*whole, {}, a.weight && b.weight};
    if (out.weight) out.part = f.learned().joined(a.part, b.part);
    if (const OnnxValue& side = a.weight ? a : b;
        side.weight && !out.weight && side.part != 0 && !side.constant && count_of(side.shape) > 1.0) {
        f.elementwise("multiply", *whole);
        f.learns(node, OnnxUse::other, 0.0, {side});
    }
    // "1 where a size is -1": what Expand's exporters write.
    if (a.values && b.values && a.values->size() == b.values->size()) {
        out.values = *b.values;
        for (std::size_t i = 0; i < out.values->size(); ++i)
            if ((*out.values)[i] < 0) (*out.values)[i] = (*a.values)[i];
    }
    f.output(node, std::move(out));
}

struct Rule {
    const char* type;
    OnnxRule follow;
};

constexpr Rule rules[] = {
    {"Identity", follow_named_copy}, {"Cast", follow_identity},
    {"CastLike", follow_identity},   {"Constant", follow_constant},
    {"Shape", follow_shape},         {"ConstantOfShape", follow_constant_of_shape},
    {"Range", follow_range},         {"Equal", follow_comparison},
    {"Less", follow_comparison},     {"LessOrEqual", follow_comparison},
    {"Greater", follow_comparison},  {"GreaterOrEqual", follow_comparison},
    {"And", follow_comparison},      {"Or", follow_comparison},
    {"Xor", follow_comparison},      {"Not", follow_identity},
    {"IsNaN", follow_identity},      {"Where", follow_where},
    {"ScatterND", follow_identity},  {"ScatterElements", follow_identity},
    {"Trilu", follow_identity},      {"CumSum", follow_identity},
};

}  // namespace

OnnxRule find_value_rule(const std::string& type) {
    for (const Rule& rule : rules)
        if (type == rule.type) return rule.follow;
    return nullptr;
}

}  // namespace dlcast
