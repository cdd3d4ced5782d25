// SPDX-License-Identifier: GPL-2.0-or-later
// ONNX operators that compute (opset 9 to 21), but for those that slide a window.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "predictor/base/text.h"
#include "predictor/model/onnx_graph.h"

namespace dlcast {
namespace {

// Rows of `in` times a learned matrix.
void linear(OnnxFollower& f, const OnnxNode& node, const Sizes& in, const OnnxValue& kernel, const OnnxValue* bias,
            const Sizes& out) {
    Value& layer = f.layer("linear", in, out);
    layer.set("out", out.back());
    if (!bias) layer.set("bias", false);
    if (node.type == "Gemm") f.learned().expect_name(kernel.part, bias ? bias->part : 0);
    const double rows = static_cast<double>(in.back()), columns = static_cast<double>(out.back());
    if (bias)
        f.learns(node, OnnxUse::kernel, rows * columns + columns, {kernel, *bias});
    else
        f.learns(node, OnnxUse::kernel, rows * columns, {kernel});
}

// Rows of `in` times a matrix that was computed, or many that are learned.
void product(OnnxFollower& f, const OnnxNode& node, const Sizes& in, const OnnxValue& learned, const Sizes& out) {
    f.layer("product", in, out).set("out", out.back());
    f.learns(node, OnnxUse::kernel, 0.0, {learned});
}

void follow_gemm(OnnxFollower& f, const OnnxNode& node) {
    const OnnxValue a = f.input(node, 0), b = f.input(node, 1);
    if (f.failed()) return;
    if (a.shape.size() != 2 || b.shape.size() != 2) return f.fail(node, "needs two matrices");
    const bool turned = node.integer_or("transB", 0) != 0, a_turned = node.integer_or("transA", 0) != 0;
    Sizes in = a_turned ? Sizes{a.shape[1], a.shape[0]} : a.shape;
    if (in[1] != (turned ? b.shape[1] : b.shape[0]))
        return f.fail(node,
                      fmt::format("[{}] and [{}] do not fit", fmt::join(a.shape, ", "), fmt::join(b.shape, ", ")));
    const Sizes out = {in[0], turned ? b.shape[0] : b.shape[1]};
    if (a.weight && b.weight) {
        OnnxValue both{out, {}, true, f.learned().joined(a.part, b.part)};
        if (f.has_input(node, 2)) both.part = f.learned().joined(both.part, f.input(node, 2).part);
        return f.output(node, std::move(both));
    }
    const OnnxValue* bias = f.has_input(node, 2) ? &f.input(node, 2) : nullptr;
    if (b.weight)
        linear(f, node, in, b, bias, out);
    else
        product(f, node, in, a, out);
    f.output(node, {out, {}, false});
}

// A weight of weights, of matrices or vectors.
void follow_weights_product(OnnxFollower& f, const OnnxNode& node, const OnnxValue& a, const OnnxValue& b) {
    Sizes left = a.shape, right = b.shape;
    const bool row = left.size() == 1, column = right.size() == 1;
    if (row) left.insert(left.begin(), 1);
    if (column) right.push_back(1);
    const auto front = broadcast(Sizes(left.begin(), left.end() - 2), Sizes(right.begin(), right.end() - 2));
    if (!front || left.back() != right[right.size() - 2])
        return f.fail(node,
                      fmt::format("[{}] and [{}] do not fit", fmt::join(a.shape, ", "), fmt::join(b.shape, ", ")));
    Sizes out = *front;
    if (!row) out.push_back(left[left.size() - 2]);
    if (!column) out.push_back(right.back());
    f.output(node, {out, {}, true, f.learned().joined(a.part, b.part), {}, a.constant && b.constant});
}

// With a learned matrix a linear layer; of two computed tensors a product in batches.
void follow_matmul(OnnxFollower& f, const OnnxNode& node) {
    const OnnxValue a = f.input(node, 0), b = f.input(node, 1);
    if (f.failed()) return;
    if (a.shape.empty() || b.shape.empty()) return f.fail(node, "needs two tensors");
    if (a.weight && b.weight) return follow_weights_product(f, node, a, b);
    if (a.shape.size() == 1 || b.shape.size() == 1) return f.fail(node, "products with a vector are not supported");
    const auto front = broadcast(Sizes(a.shape.begin(), a.shape.end() - 2), Sizes(b.shape.begin(), b.shape.end() - 2));
    if (!front || a.shape.back() != b.shape[b.shape.size() - 2])
        return f.fail(node,
                      fmt::format("[{}] and [{}] do not fit", fmt::join(a.shape, ", "), fmt::join(b.shape, ", ")));
    Sizes out = *front;
    out.push_back(a.shape[a.shape.size() - 2]);
    out.push_back(b.shape.back());
    const bool one_matrix = count_of(b.shape) == count_of(Sizes(b.shape.end() - 2, b.shape.end()));
    if (b.weight && one_matrix && front->size() + 2 == a.shape.size()) {
        linear(f, node, a.shape, b, nullptr, out);
    } else {
        Sizes in = *front;
        in.push_back(a.shape[a.shape.size() - 2]);
        in.push_back(a.shape.back());
        product(f, node, in, a.weight ? a : b, out);  // a learned matrix for each of several, or on the left
    }
    f.output(node, {out, {}, false});
}

void follow_norm(OnnxFollower& f, const OnnxNode& node) {
    const OnnxValue in = f.input(node, 0);
    if (f.failed()) return;
    const char* type = node.type == "BatchNormalization"   ? "batch_norm"
                       : node.type == "LayerNormalization" ? "layer_norm"
                       : node.type == "RMSNormalization"   ? "rms_norm"
                                                           : "group_norm";
    Sizes seen = in.shape;
    const bool scales = f.has_input(node, 1), shifts = f.has_input(node, 2);
    const bool last = node.type == "LayerNormalization" || node.type == "RMSNormalization";
    std::vector<OnnxValue> learned;
    if (scales) {
        const OnnxValue& scale = f.input(node, 1);
        const double factors = count_of(scale.shape);
        learned.push_back(scale);
        if (shifts) learned.push_back(f.input(node, 2));
        // Over several dimensions at once: rows of as many elements as there are factors.
        if (last && !seen.empty() && factors != static_cast<double>(seen.back())) {
            const double rows = count_of(seen) / factors / static_cast<double>(seen.front());
            if (!(rows >= 1.0 && rows <= 1e15) || rows != std::floor(rows))
                return f.fail(node, fmt::format("its scale [{}] does not fit its input [{}]",
                                                fmt::join(scale.shape, ", "), fmt::join(in.shape, ", ")));
            seen = {in.shape.front(), static_cast<std::int64_t>(rows), static_cast<std::int64_t>(factors)};
        }
        const bool channels = node.type == "BatchNormalization" || node.type == "InstanceNormalization";
        if (channels && (in.shape.size() < 2 || factors != static_cast<double>(in.shape[1])))
            return f.fail(node, fmt::format("its scale [{}] does not fit the channels of its input [{}]",
                                            fmt::join(scale.shape, ", "), fmt::join(in.shape, ", ")));
    }
    // Whatever lies behind the channels is one column of them.
    if (!last && seen.size() > 2 && seen.size() != 4)
        seen = {seen[0], seen[1], static_cast<std::int64_t>(count_of(Sizes(seen.begin() + 2, seen.end()))), 1};
    Value& layer = f.elementwise(type, seen);
    if (node.type == "LayerNormalization" && !shifts) layer.set("bias", false);
    // Exporters write a norm that learns nothing, or whose factors follow it, with constant ones.
    const double width = seen.empty() ? 1.0 : static_cast<double>(last || seen.size() < 2 ? seen.back() : seen[1]);
    const bool one_each = type == std::string_view("rms_norm") || (last && !shifts);
    f.learns(node, OnnxUse::other, width * (one_each ? 1.0 : 2.0), learned);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) f.output(node, {in.shape, {}, false}, i);
}

struct Activation {
    const char* onnx;
    const char* ours;
};

constexpr Activation activations[] = {{"Relu", "relu"},
                                      {"LeakyRelu", "leaky_relu"},
                                      {"PRelu", "prelu"},
                                      {"Elu", "elu"},
                                      {"Selu", "selu"},
                                      {"Celu", "elu"},
                                      {"Sigmoid", "sigmoid"},
                                      {"HardSigmoid", "hard_sigmoid"},
                                      {"HardSwish", "hard_swish"},
                                      {"Tanh", "tanh"},
                                      {"Gelu", "gelu"},
                                      {"Softplus", "softplus"},
                                      {"Softsign", "tanh"},
                                      {"Mish", "mish"},
                                      {"Clip", "relu6"},
                                      {"ThresholdedRelu", "relu"},
                                      {"Erf", "tanh"},
                                      {"Exp", "tanh"},
                                      {"Log", "tanh"},
                                      {"Sqrt", "relu"},
                                      {"Reciprocal", "relu"},
                                      {"Neg", "relu"},
                                      {"Abs", "relu"},
                                      {"Sign", "relu"},
                                      {"Floor", "relu"},
                                      {"Ceil", "relu"},
                                      {"Round", "relu"},
                                      {"Sin", "tanh"},
                                      {"Cos", "tanh"},
                                      {"Tan", "tanh"},
                                      {"Asin", "tanh"},
                                      {"Acos", "tanh"},
                                      {"Atan", "tanh"},
                                      {"Sinh", "tanh"},
                                      {"Cosh", "tanh"},
                                      {"Asinh", "tanh"},
                                      {"Acosh", "tanh"},
                                      {"Atanh", "tanh"},
                                      {"Shrink", "relu"},
                                      {"Hardmax", "softmax"},
                                      {"Softmax", "softmax"},
                                      {"LogSoftmax", "softmax"},
                                      {"Dropout", "dropout"}};

void follow_activation(OnnxFollower& f, const OnnxNode& node) {
    const OnnxValue in = f.input(node, 0);
    for (const Activation& a : activations)
        if (node.type == a.onnx && !in.weight) {
            f.elementwise(a.ours, in.shape);
            if (node.type == "PRelu") f.learns(node, OnnxUse::kernel, 0.0, {f.input(node, 1)});
        }
    OnnxValue out = in.as(in.shape);
    if (node.type == "Neg" && in.values) {
        out.values = *in.values;
        for (std::int64_t& value : *out.values) value = -std::max(value, -std::numeric_limits<std::int64_t>::max());
    }
    f.output(node, std::move(out));
}

std::optional<std::int64_t> apply(const std::string& type, std::int64_t a, std::int64_t b) {
    const double x = static_cast<double>(a), y = static_cast<double>(b);
    double out = 0;
    if (type == "Add")
        out = x + y;
    else if (type == "Sub")
        out = x - y;
    else if (type == "Mul")
        out = x * y;
    else if (type == "Max")
        out = std::max(x, y);
    else if (type == "Min")
        out = std::min(x, y);
    else if (type == "Div" && b != 0)
        out = std::floor(x / y);
    else if (type == "Mod" && b != 0)
        out = static_cast<double>(b == -1 ? 0 : a % b);
    else
        return std::nullopt;
    if (std::abs(out) > 1e15) return std::nullopt;
    return static_cast<std::int64_t>(out);
}

// A learned operand adds its parameters. One number is a constant; what data is lessened or divided by are its
// statistics.
void read_side(OnnxFollower& f, const OnnxNode& node, const OnnxValue& side, bool right) {
    if (!side.weight || count_of(side.shape) <= 1.0) return;
    if (right && (node.type == "Sub" || node.type == "Div")) return f.learned().leave(side.part);
    f.learned().doubt(side.part);
    f.learns(node, OnnxUse::other, 0.0, {side});
}

// Numbers that are shapes are computed.
void follow_arithmetic(OnnxFollower& f, const OnnxNode& node) {
    OnnxValue out = f.input(node, 0);
    for (std::size_t i = 1; i < node.inputs.size() && !f.failed(); ++i) {
        const OnnxValue& other = f.input(node, i);
        const auto shape = broadcast(out.shape, other.shape);
        if (!shape)
            return f.fail(node, fmt::format("[{}] and [{}] do not fit", fmt::join(out.shape, ", "),
                                            fmt::join(other.shape, ", ")));
        std::optional<Sizes> values;
        if (out.values && other.values && !out.values->empty() && !other.values->empty()) {
            values = Sizes();
            for (std::size_t k = 0; k < std::max(out.values->size(), other.values->size()); ++k) {
                const auto one = apply(node.type, (*out.values)[std::min(k, out.values->size() - 1)],
                                       (*other.values)[std::min(k, other.values->size() - 1)]);
                if (!one) values.reset();
                if (!values) break;
                values->push_back(*one);
            }
        }
        const bool weight = out.weight && other.weight;
        if (!weight && !values) {
            const bool sum = node.type == "Add" || node.type == "Sub" || node.type == "Sum" || node.type == "Mean";
            f.elementwise(sum ? "add" : "multiply", *shape);
            read_side(f, node, out.weight ? out : other, !out.weight);
        }
        const OnnxPart part = weight ? f.learned().joined(out.part, other.part) : 0;
        out = {*shape, std::move(values), weight, part, {}, out.constant && other.constant};
    }
    if (f.failed()) return;
    f.output(node, std::move(out));
}

void follow_reduce(OnnxFollower& f, const OnnxNode& node) {
    const OnnxValue in = f.input(node, 0);
    const bool index = node.type == "ArgMax" || node.type == "ArgMin";  // of one axis, the first where none is named
    Sizes axes = index ? Sizes{node.integer_or("axis", 0)} : node.integers_or("axes", {});
    if (axes.empty() && f.has_input(node, 1))
        if (const auto& values = f.input(node, 1).values) axes = *values;
    const bool keeps = node.integer_or("keepdims", 1) != 0;
    std::vector<bool> gone(in.shape.size(), axes.empty());
    for (const std::int64_t axis : axes) {
        const std::size_t at = axis_of(f, node, axis, in.shape.size());
        if (f.failed()) return;
        gone[at] = true;
    }
    Sizes out;
    for (std::size_t i = 0; i < in.shape.size(); ++i) {
        if (!gone[i])
            out.push_back(in.shape[i]);
        else if (keeps)
            out.push_back(1);
    }
    if (node.type == "ReduceProd" && in.values) {
        double product = 1.0;
        for (const std::int64_t value : *in.values) product *= static_cast<double>(value);
        if (std::abs(product) < 1e15)
            return f.output(node, {out, Sizes{static_cast<std::int64_t>(product)}, in.weight, in.part});
    }
    // The mean of an image is pooling.
    if (in.shape.size() == 4 && gone[2] && gone[3] && !gone[1] && !in.weight)
        f.layer("global_avg_pool", in.shape, {in.shape[0], in.shape[1], 1, 1});
    f.output(node, {out, {}, in.weight, in.part, {}, in.constant});
}

void follow_recurrent(OnnxFollower& f, const OnnxNode& node) {
    const OnnxValue in = f.input(node, 0);
    const std::int64_t hidden = node.integer_or("hidden_size", 0);
    if (in.shape.size() != 3 || hidden < 1 || hidden > 1'000'000)
        return f.fail(node, "needs a sequence and hidden_size");
    const OnnxAttribute* direction = node.find("direction");
    const bool both = direction && direction->text == "bidirectional";
    if (direction && !both && direction->text != "forward" && direction->text != "reverse")
        return f.fail(node, fmt::format("its direction is \"{}\"; forward, reverse and bidirectional are known",
                                        one_line(direction->text, 80)));
    const std::int64_t directions = both ? 2 : 1;
    const Sizes weights = {directions, (node.type == "GRU" ? 3 : 4) * hidden, in.shape[2]};
    if (f.input(node, 1).shape != weights)
        return f.fail(node, fmt::format("its weight [{}] should be [{}] by its hidden_size and input",
                                        fmt::join(f.input(node, 1).shape, ", "), fmt::join(weights, ", ")));
    // [time, batch, width] as ONNX lays it out.
    Value& layer =
        f.layer(node.type == "GRU" ? "gru" : "lstm", in.shape, {in.shape[0], directions, in.shape[1], hidden});
    layer.set("at", Value(Value::Array{in.shape[0], in.shape[2]}));
    layer.set("hidden", hidden);
    if (both) layer.set("bidirectional", true);
    const double gates = static_cast<double>(directions * weights[1]);
    const bool bias = f.has_input(node, 3);
    if (!bias) layer.set("biases", 0);
    std::vector<OnnxValue> learned = {f.input(node, 1), f.input(node, 2)};
    if (bias) learned.push_back(f.input(node, 3));
    f.learns(node, OnnxUse::kernel, gates * static_cast<double>(in.shape[2] + hidden + (bias ? 2 : 0)), learned);
    f.output(node, {{in.shape[0], directions, in.shape[1], hidden}, {}, false});
    for (std::size_t i = 1; i < node.outputs.size(); ++i)
        f.output(node, {{directions, in.shape[1], hidden}, {}, false}, i);
}

struct Rule {
    const char* type;
    OnnxRule follow;
};

constexpr Rule rules[] = {{"Gemm", follow_gemm},
                          {"MatMul", follow_matmul},
                          {"BatchNormalization", follow_norm},
                          {"LayerNormalization", follow_norm},
                          {"RMSNormalization", follow_norm},
                          {"GroupNormalization", follow_norm},
                          {"InstanceNormalization", follow_norm},
                          {"LRN", follow_norm},
                          {"Add", follow_arithmetic},
                          {"Sub", follow_arithmetic},
                          {"Mul", follow_arithmetic},
                          {"Div", follow_arithmetic},
                          {"Pow", follow_arithmetic},
                          {"Max", follow_arithmetic},
                          {"Min", follow_arithmetic},
                          {"Mod", follow_arithmetic},
                          {"Sum", follow_arithmetic},
                          {"Mean", follow_arithmetic},
                          {"ReduceMean", follow_reduce},
                          {"ReduceSum", follow_reduce},
                          {"ReduceMax", follow_reduce},
                          {"ReduceMin", follow_reduce},
                          {"ReduceProd", follow_reduce},
                          {"ReduceL1", follow_reduce},
                          {"ReduceL2", follow_reduce},
                          {"ReduceLogSum", follow_reduce},
                          {"ReduceLogSumExp", follow_reduce},
                          {"ReduceSumSquare", follow_reduce},
                          {"ArgMax", follow_reduce},
                          {"ArgMin", follow_reduce},
                          {"Einsum", follow_einsum},
                          {"LSTM", follow_recurrent},
                          {"GRU", follow_recurrent}};

}  // namespace

OnnxRule find_layer_rule(const std::string& type) {
    for (const Rule& rule : rules)
        if (type == rule.type) return rule.follow;
    for (const Activation& a : activations)
        if (type == a.onnx) return follow_activation;
    return find_window_rule(type);
}

}  // namespace dlcast
