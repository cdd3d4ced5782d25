// SPDX-License-Identifier: GPL-2.0-or-later
// ONNX operators that move and cut tensors (opset 9 to 21): they cost little and are not layers, but shapes pass
// through them, and numbers that are shapes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "predictor/model/onnx_graph.h"

namespace dlcast {
namespace {

constexpr std::int64_t most_size = 1'000'000'000'000;

Sizes ints_of(OnnxFollower& f, const OnnxNode& node, const char* attribute, std::size_t index) {
    if (const OnnxAttribute* found = node.find(attribute)) return found->integers;
    if (f.has_input(node, index))
        if (const auto& values = f.input(node, index).values) return *values;
    return {};
}

void follow_reshape(OnnxFollower& f, const OnnxNode& node) {
    const OnnxValue in = f.input(node, 0);
    Sizes wanted = ints_of(f, node, "shape", 1);
    if (wanted.empty() && !in.values)
        return f.fail(node, "its shape is computed by the graph; export with fixed shapes");
    double known = 1.0;
    std::optional<std::size_t> open;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (wanted[i] == 0 && i < in.shape.size()) wanted[i] = in.shape[i];
        if (wanted[i] == -1)
            open = i;
        else
            known *= static_cast<double>(wanted[i]);
    }
    if (open && known > 0) wanted[*open] = static_cast<std::int64_t>(count_of(in.shape) / known);
    if (count_of(wanted) != count_of(in.shape))
        return f.fail(
            node, fmt::format("the shape [{}] does not hold [{}]", fmt::join(wanted, ", "), fmt::join(in.shape, ", ")));
    OnnxValue out = in.as(wanted);
    out.values = in.values;
    f.output(node, std::move(out));
}

void follow_flatten(OnnxFollower& f, const OnnxNode& node) {
    const OnnxValue in = f.input(node, 0);
    std::int64_t axis = node.integer_or("axis", 1);
    if (axis < 0) axis += static_cast<std::int64_t>(in.shape.size());
    if (axis < 0 || axis > static_cast<std::int64_t>(in.shape.size())) return f.fail(node, "no such axis");
    const Sizes front(in.shape.begin(), in.shape.begin() + axis), back(in.shape.begin() + axis, in.shape.end());
    f.output(node, in.as({static_cast<std::int64_t>(count_of(front)), static_cast<std::int64_t>(count_of(back))}));
}

// Numbers of a small tensor in rows of its shape, laid out anew: `source` tells the place of each element of `out`.
template <typename Source>
std::optional<Sizes> laid_out(const OnnxValue& in, const Sizes& out, Source&& source) {
    if (!in.values || static_cast<double>(in.values->size()) != count_of(in.shape) || count_of(out) > most_onnx_values)
        return std::nullopt;
    Sizes values;
    Sizes at(out.size(), 0);
    for (auto left = static_cast<std::size_t>(count_of(out)); left > 0; --left) {
        std::size_t place = 0;
        for (std::size_t i = 0; i < in.shape.size(); ++i)
            place = place * static_cast<std::size_t>(in.shape[i]) + static_cast<std::size_t>(source(at, i));
        values.push_back((*in.values)[place]);
        for (std::size_t i = out.size(); i-- > 0;)
            if (++at[i] < out[i])
                break;
            else
                at[i] = 0;
    }
    return values;
}

void follow_transpose(OnnxFollower& f, const OnnxNode& node) {
    const OnnxValue in = f.input(node, 0);
    Sizes order = node.integers_or("perm", {});
    if (order.empty())
        for (std::size_t i = in.shape.size(); i-- > 0;) order.push_back(static_cast<std::int64_t>(i));
    Sizes out;
    std::vector<std::size_t> place(in.shape.size(), in.shape.size());  // of each axis in the result
    for (const std::int64_t from : order) {
        const std::size_t axis = axis_of(f, node, from, in.shape.size());
        if (f.failed()) return;
        place[axis] = out.size();
        out.push_back(in.shape[axis]);
    }
    if (out.size() != in.shape.size() || std::count(place.begin(), place.end(), in.shape.size()) > 0)
        return f.fail(node, "its perm should name each axis once");
    OnnxValue turned = in.as(out);
    turned.values = laid_out(in, out, [&](const Sizes& at, std::size_t axis) { return at[place[axis]]; });
    f.output(node, std::move(turned));
}

void follow_squeeze(OnnxFollower& f, const OnnxNode& node) {
    const OnnxValue in = f.input(node, 0);
    const Sizes axes = ints_of(f, node, "axes", 1);
    std::vector<bool> gone(in.shape.size(), false);
    for (const std::int64_t axis : axes) {
        const std::size_t at = axis_of(f, node, axis, in.shape.size());
        if (f.failed()) return;
        gone[at] = true;
    }
    Sizes out;
    for (std::size_t i = 0; i < in.shape.size(); ++i)
        if (axes.empty() ? in.shape[i] != 1 : !gone[i]) out.push_back(in.shape[i]);
    OnnxValue formed = in.as(out);
    formed.values = in.values;
    f.output(node, std::move(formed));
}

void follow_unsqueeze(OnnxFollower& f, const OnnxNode& node) {
    const OnnxValue in = f.input(node, 0);
    Sizes axes = ints_of(f, node, "axes", 1);
    const std::size_t rank = in.shape.size() + axes.size();
    for (std::int64_t& axis : axes) {
        axis = static_cast<std::int64_t>(axis_of(f, node, axis, rank));
        if (f.failed()) return;
    }
    std::sort(axes.begin(), axes.end());
    Sizes out = in.shape;
    for (const std::int64_t axis : axes)
        out.insert(out.begin() + std::min<std::int64_t>(axis, static_cast<std::int64_t>(out.size())), 1);
    OnnxValue formed = in.as(out);
    formed.values = in.values;
    f.output(node, std::move(formed));
}

void follow_concat(OnnxFollower& f, const OnnxNode& node) {
    OnnxValue out = f.input(node, 0);
    const std::size_t axis = axis_of(f, node, node.integer_or("axis", 0), std::max<std::size_t>(1, out.shape.size()));
    double total = 0.0;
    for (std::size_t i = 0; i < node.inputs.size() && !f.failed(); ++i) {
        const OnnxValue& in = f.input(node, i);
        if (in.shape.size() != out.shape.size() || in.shape.empty()) return f.fail(node, "its inputs differ in rank");
        total += static_cast<double>(in.shape[axis]);
        if (i == 0) continue;
        out.weight = out.weight && in.weight;
        out.constant = out.constant && in.constant;
        out.part = f.learned().joined(out.part, in.part);
        if (out.values && in.values && out.values->size() + in.values->size() <= most_onnx_values)
            out.values->insert(out.values->end(), in.values->begin(), in.values->end());
        else
            out.values.reset();
    }
    if (f.failed()) return;
    if (total > 1e15) return f.fail(node, "makes over 1e9 elements; export with a smaller input");
    out.shape[axis] = static_cast<std::int64_t>(total);
    out.piece = false;
    if (!out.values && !out.weight) {
        f.layer("concat", out.shape, out.shape);
        f.learns(node, OnnxUse::other, 0.0, {out});  // tokens that stand before those of the data
        out.part = 0;
    }
    f.output(node, std::move(out));
}

void follow_split(OnnxFollower& f, const OnnxNode& node) {
    const OnnxValue in = f.input(node, 0);
    const std::size_t axis = axis_of(f, node, node.integer_or("axis", 0), in.shape.size());
    if (f.failed() || node.outputs.empty()) return;
    const Sizes parts = ints_of(f, node, "split", 1);
    const auto count = static_cast<std::int64_t>(node.outputs.size());
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        Sizes out = in.shape;
        out[axis] = i < parts.size() ? parts[i] : (in.shape[axis] + count - 1) / count;
        OnnxValue piece = in.as(out);
        piece.piece = true;
        f.output(node, std::move(piece), i);
    }
}

void follow_slice(OnnxFollower& f, const OnnxNode& node) {
    OnnxValue in = f.input(node, 0);
    const Sizes starts = ints_of(f, node, "starts", 1), ends = ints_of(f, node, "ends", 2);
    Sizes axes = ints_of(f, node, "axes", 3), steps = ints_of(f, node, "steps", 4);
    if (starts.size() != ends.size() || starts.empty())
        return f.fail(node, "its bounds are computed by the graph; export with fixed shapes");
    for (std::size_t i = axes.size(); i < starts.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
    for (std::size_t i = 0; i < starts.size(); ++i) {
        const std::size_t axis = axis_of(f, node, axes[i], in.shape.size());
        if (f.failed()) return;
        const std::int64_t size = in.shape[axis];
        const std::int64_t step = i < steps.size() ? std::clamp<std::int64_t>(steps[i], -most_size, most_size) : 1;
        if (step == 0) return f.fail(node, "a step of 0");
        // Backwards, from the last element at most to before the first.
        const std::int64_t least = step > 0 ? 0 : -1, most = step > 0 ? size : size - 1;
        const auto place = [&](std::int64_t at) {
            return std::clamp<std::int64_t>(at < 0 ? at + size : at, least, std::max(least, most));
        };
        const std::int64_t from = place(starts[i]), to = place(ends[i]);
        const std::int64_t span = step > 0 ? to - from : from - to;
        Sizes out = in.shape;
        out[axis] = std::max<std::int64_t>(0, (span + std::abs(step) - 1) / std::abs(step));
        in.values =
            laid_out(in, out, [&](const Sizes& at, std::size_t k) { return k == axis ? from + at[k] * step : at[k]; });
        in.shape = std::move(out);
        in.piece = true;
    }
    f.output(node, std::move(in));
}

// A table of learned rows is an embedding; everything else is indexing.
void follow_gather(OnnxFollower& f, const OnnxNode& node) {
    const OnnxValue data = f.input(node, 0), indices = f.input(node, 1);
    const std::size_t axis = axis_of(f, node, node.integer_or("axis", 0), data.shape.size());
    if (f.failed()) return;
    OnnxValue out;
    out.shape.assign(data.shape.begin(), data.shape.begin() + static_cast<std::ptrdiff_t>(axis));
    out.shape.insert(out.shape.end(), indices.shape.begin(), indices.shape.end());
    out.shape.insert(out.shape.end(), data.shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, data.shape.end());
    out.weight = data.weight && indices.weight;
    out.part = out.weight ? data.part : 0;
    out.piece = true;
    out.constant = data.constant;
    if (data.values && indices.values && axis == 0) {
        Sizes picked;
        for (std::int64_t index : *indices.values) {
            if (index < 0) index += static_cast<std::int64_t>(data.values->size());
            if (index < 0 || index >= static_cast<std::int64_t>(data.values->size()))
                return f.fail(node, "an index out of range");
            picked.push_back((*data.values)[static_cast<std::size_t>(index)]);
        }
        out.values = std::move(picked);
    } else if (data.weight && !indices.weight && data.shape.size() == 2 && axis == 0) {
        Value& layer = f.layer("embedding", indices.shape, out.shape);
        layer.set("vocab", data.shape[0]);
        layer.set("width", data.shape[1]);
        f.learns(node, OnnxUse::table, count_of(data.shape), {data});
    }
    f.output(node, std::move(out));
}

void follow_expand(OnnxFollower& f, const OnnxNode& node) {
    const OnnxValue in = f.input(node, 0);
    const auto& wanted = f.input(node, 1).values;
    if (!wanted) return f.fail(node, "its shape is computed by the graph; export with fixed shapes");
    const auto shape = broadcast(in.shape, *wanted);
    if (!shape) return f.fail(node, "the shapes do not fit");
    f.output(node, in.as(*shape));
}

void follow_tile(OnnxFollower& f, const OnnxNode& node) {
    OnnxValue in = f.input(node, 0);
    const auto repeats = f.input(node, 1).values;
    if (!repeats || repeats->size() != in.shape.size())
        return f.fail(node, "its repeats are computed by the graph; export with fixed shapes");
    for (std::size_t i = 0; i < in.shape.size(); ++i) {
        if (std::abs(static_cast<double>(in.shape[i]) * static_cast<double>((*repeats)[i])) > 1e15)
            return f.fail(node, "makes over 1e9 elements; export with a smaller input");
        in.shape[i] *= (*repeats)[i];
    }
    in.values.reset();
    f.output(node, std::move(in));
}

void follow_pad(OnnxFollower& f, const OnnxNode& node) {
    OnnxValue in = f.input(node, 0);
    const Sizes pads = ints_of(f, node, "pads", 1);
    // All axes, or from opset 18 on those named.
    Sizes axes = f.has_input(node, 3) && f.input(node, 3).values ? *f.input(node, 3).values : Sizes();
    if (axes.empty())
        for (std::size_t i = 0; i < in.shape.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
    if (pads.size() != 2 * axes.size())
        return f.fail(node, "its pads are computed by the graph; export with fixed shapes");
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const std::size_t axis = axis_of(f, node, axes[i], in.shape.size());
        if (f.failed()) return;
        for (const std::int64_t pad : {pads[i], pads[i + axes.size()]})
            in.shape[axis] += std::clamp(pad, -most_size, most_size);
    }
    in.values.reset();
    f.output(node, std::move(in));
}

void follow_space(OnnxFollower& f, const OnnxNode& node) {
    OnnxValue in = f.input(node, 0);
    const std::int64_t size = node.integer_or("blocksize", 1);
    if (in.shape.size() != 4 || size < 1 || size > 1024) return f.fail(node, "needs an image and a blocksize");
    if (count_of(in.shape) > 1e12) return f.fail(node, "makes over 1e9 elements; export with a smaller input");
    const bool deeper = node.type == "SpaceToDepth";
    in.shape = deeper ? Sizes{in.shape[0], in.shape[1] * size * size, in.shape[2] / size, in.shape[3] / size}
                      : Sizes{in.shape[0], in.shape[1] / (size * size), in.shape[2] * size, in.shape[3] * size};
    f.output(node, std::move(in));
}

struct Rule {
    const char* type;
    OnnxRule follow;
};

constexpr Rule rules[] = {
    {"Reshape", follow_reshape},    {"Flatten", follow_flatten},     {"Transpose", follow_transpose},
    {"Squeeze", follow_squeeze},    {"Unsqueeze", follow_unsqueeze}, {"Concat", follow_concat},
    {"Split", follow_split},        {"Slice", follow_slice},         {"Gather", follow_gather},
    {"Expand", follow_expand},      {"Tile", follow_tile},           {"Pad", follow_pad},
    {"DepthToSpace", follow_space}, {"SpaceToDepth", follow_space},
};

}  // namespace

OnnxRule find_shape_rule(const std::string& type) {
    for (const Rule& rule : rules)
        if (type == rule.type) return rule.follow;
    return find_value_rule(type);
}

}  // namespace dlcast
