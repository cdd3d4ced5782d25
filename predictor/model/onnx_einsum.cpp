// SPDX-License-Identifier: GPL-2.0-or-later
// Einsum (opset 12 on), as torch.einsum exports: "bhid,bhjd->bhij".
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "predictor/model/onnx_graph.h"

namespace dlcast {
namespace {

struct Equation {
    std::vector<std::string> inputs;  // a letter for each dimension
    std::string output;
    bool good = false;
};

// With the result written out and without an ellipsis.
Equation read_equation(const std::string& text) {
    Equation out;
    std::string plain = text;
    std::erase(plain, ' ');
    const auto arrow = plain.find("->");
    if (arrow == std::string::npos) return out;
    out.output = plain.substr(arrow + 2);
    out.inputs.emplace_back();
    for (const char c : plain.substr(0, arrow)) {
        if (c == ',')
            out.inputs.emplace_back();
        else
            out.inputs.back() += c;
    }
    const auto letters = [](const std::string& labels) {
        return std::all_of(labels.begin(), labels.end(),
                           [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
    };
    out.good = letters(out.output) && std::all_of(out.inputs.begin(), out.inputs.end(), letters);
    return out;
}

bool has(const std::string& labels, char label) { return labels.find(label) != std::string::npos; }

}  // namespace

void follow_einsum(OnnxFollower& f, const OnnxNode& node) {
    const OnnxAttribute* text = node.find("equation");
    const Equation equation = read_equation(text ? text->text : "");
    if (!equation.good || equation.inputs.size() != node.inputs.size() || node.inputs.empty() || node.inputs.size() > 2)
        return f.fail(node, "only equations of one or two tensors with all labels are known; export matrix products");
    std::map<char, std::int64_t> size;
    bool weight = true;
    OnnxPart part = 0;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        const OnnxValue& in = f.input(node, i);
        if (f.failed()) return;
        const std::string& labels = equation.inputs[i];
        if (labels.size() != in.shape.size()) return f.fail(node, "its equation does not fit its inputs");
        weight = weight && in.weight;
        part = f.learned().joined(part, in.part);
        for (std::size_t k = 0; k < labels.size(); ++k) {
            const auto [known, fresh] = size.emplace(labels[k], in.shape[k]);
            if (!fresh && known->second != in.shape[k]) return f.fail(node, "a label has two sizes");
        }
    }
    Sizes out;
    for (const char label : equation.output) {
        if (!size.contains(label)) return f.fail(node, "its result has a label of no input");
        out.push_back(size[label]);
    }
    if (weight || node.inputs.size() == 1) return f.output(node, {out, {}, weight, weight ? part : 0});
    // Rows of the first tensor times a matrix of the second, for each of what they share and keep.
    std::string rows = equation.output;
    double inner = 1.0, columns = 1.0;
    std::erase_if(rows, [&](char label) { return !has(equation.inputs[0], label); });
    Sizes in;
    for (const char label : rows) in.push_back(size[label]);
    for (const auto& [label, count] : size) {
        if (!has(equation.output, label)) inner *= static_cast<double>(count);
        if (has(equation.output, label) && !has(equation.inputs[0], label)) columns *= static_cast<double>(count);
    }
    if (inner > 1e9 || columns > 1e9)
        return f.fail(node, "sums over more than 1e9 elements; export with a smaller input");
    in.push_back(static_cast<std::int64_t>(inner));
    Sizes result = in;
    result.back() = static_cast<std::int64_t>(columns);
    const bool learned = f.input(node, 1).weight && count_of(f.input(node, 1).shape) == inner * columns;
    Value& layer = f.layer(learned ? "linear" : "product", in, result);
    layer.set("out", result.back());
    if (learned) layer.set("bias", false);
    if (learned)
        f.learns(node, OnnxUse::kernel, inner * columns, {f.input(node, 1)});
    else
        f.learns(node, OnnxUse::kernel, 0.0, {f.input(node, f.input(node, 1).weight ? 1 : 0)});
    f.output(node, {out, {}, false});
}

}  // namespace dlcast
