// SPDX-License-Identifier: GPL-2.0-or-later
// ONNX operators over the neighbourhood of each place: convolution, pooling, resizing (opset 9 to 21).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "predictor/model/onnx_graph.h"

namespace dlcast {
namespace {

// [height, width] as one number where both are equal.
Value pair_of(std::int64_t h, std::int64_t w) { return h == w ? Value(h) : Value(Value::Array{h, w}); }

struct Sliding {
    Sizes kernel, strides, dilations, pads;
    bool same = false, ceil = false;
    bool known = true;  // its auto_pad is one that ONNX has
};

Sliding read_sliding(const OnnxNode& node, Sizes kernel) {
    Sliding s;
    s.kernel = node.integers_or("kernel_shape", std::move(kernel));
    s.strides = node.integers_or("strides", Sizes(s.kernel.size(), 1));
    s.dilations = node.integers_or("dilations", Sizes(s.kernel.size(), 1));
    s.pads = node.integers_or("pads", Sizes(2 * s.kernel.size(), 0));
    const OnnxAttribute* automatic = node.find("auto_pad");
    s.same = automatic && (automatic->text == "SAME_UPPER" || automatic->text == "SAME_LOWER");
    s.known = !automatic || s.same || automatic->text == "NOTSET" || automatic->text == "VALID";
    s.ceil = node.integer_or("ceil_mode", 0) != 0;
    return s;
}

bool is_sane(const Sliding& s, std::size_t sides) {
    const auto within = [](const Sizes& sizes, std::int64_t least) {
        return std::all_of(sizes.begin(), sizes.end(), [&](std::int64_t v) { return v >= least && v <= 1'000'000; });
    };
    return s.known && s.kernel.size() == sides && s.strides.size() == sides && s.dilations.size() == sides &&
           s.pads.size() == 2 * sides && within(s.kernel, 1) && within(s.strides, 1) && within(s.dilations, 1) &&
           within(s.pads, 0);
}

std::string window_fault(const Sliding& s) {
    if (!s.known) return "its auto_pad is none of NOTSET, VALID, SAME_UPPER and SAME_LOWER";
    return fmt::format("its window makes no sense: kernel [{}], strides [{}], dilations [{}], pads [{}]",
                       fmt::join(s.kernel, ", "), fmt::join(s.strides, ", "), fmt::join(s.dilations, ", "),
                       fmt::join(s.pads, ", "));
}

std::int64_t slide(std::int64_t in, const Sliding& s, std::size_t i) {
    if (s.same) return (in + s.strides[i] - 1) / s.strides[i];
    const std::int64_t span = in + s.pads[i] + s.pads[i + s.kernel.size()] - s.dilations[i] * (s.kernel[i] - 1) - 1;
    if (span < 0) return 0;
    return (s.ceil ? span + s.strides[i] - 1 : span) / s.strides[i] + 1;
}

// Windows of dlcast pad both ends alike; where a file does otherwise, the result is written instead. `out`: batch,
// channels and sides.
void set_window(Value& layer, const Sliding& s, const Sizes& out, bool plain) {
    const bool flat = s.kernel.size() == 1;  // over time alone: an image of one column
    layer.set("kernel", flat ? Value(Value::Array{s.kernel[0], 1}) : pair_of(s.kernel[0], s.kernel[1]));
    if (s.strides[0] != 1 || layer.find("type")->as_string().ends_with("pool")) layer.set("stride", s.strides[0]);
    for (std::size_t i = 0; i < s.kernel.size(); ++i)
        plain = plain && s.pads[i] == s.pads[i + s.kernel.size()] && s.strides[i] == s.strides[0] &&
                s.dilations[i] == s.dilations[0];
    if (!plain || s.same || flat)
        layer.set("result", Value(Value::Array{out[2], flat ? std::int64_t{1} : out[3]}));
    else if (s.pads[0] > 0 || s.pads[1] > 0)
        layer.set("padding", pair_of(s.pads[0], s.pads[1]));
    if (s.dilations[0] != 1) layer.set("dilation", s.dilations[0]);
    if (s.ceil) layer.set("ceil_mode", true);
}

// Channels first, with a width of 1 where there is none.
Sizes as_image(Sizes shape) {
    if (shape.size() == 3) shape.push_back(1);
    return shape;
}

void follow_conv(OnnxFollower& f, const OnnxNode& node) {
    const OnnxValue in = f.input(node, 0), weight = f.input(node, 1);
    if (f.failed()) return;
    const std::size_t sides = in.shape.size() < 2 ? 0 : in.shape.size() - 2;
    if ((sides != 1 && sides != 2) || weight.shape.size() != in.shape.size())
        return f.fail(node, "needs a signal or an image; volumes are not supported");
    const Sliding s = read_sliding(node, Sizes(weight.shape.begin() + 2, weight.shape.end()));
    const std::int64_t groups = node.integer_or("group", 1);
    const Sizes kernel(weight.shape.begin() + 2, weight.shape.end());
    if (s.kernel != kernel)
        return f.fail(node, fmt::format("its kernel_shape [{}] is not that of its weight [{}]",
                                        fmt::join(s.kernel, ", "), fmt::join(weight.shape, ", ")));
    if (!is_sane(s, sides) || groups < 1 || groups > 1'000'000'000 || count_of(in.shape) > 1e12)
        return f.fail(node, window_fault(s));
    const bool transposed = node.type == "ConvTranspose";
    const double reads = static_cast<double>(transposed ? weight.shape[0] : weight.shape[1]) *
                         (transposed ? 1.0 : static_cast<double>(groups));
    if (reads != static_cast<double>(in.shape[1]))
        return f.fail(node, fmt::format("its weight [{}] in {} group{} reads {:.0f} channels, its input [{}] has {}",
                                        fmt::join(weight.shape, ", "), groups, groups == 1 ? "" : "s", reads,
                                        fmt::join(in.shape, ", "), in.shape[1]));
    if (count_of(weight.shape) > 1e15) return f.fail(node, "has over 1e15 weights; export the model again");
    const std::int64_t channels = transposed ? weight.shape[1] * groups : weight.shape[0];
    Sizes out = {in.shape[0], channels};
    const Sizes stated = transposed ? node.integers_or("output_shape", {}) : Sizes();
    for (std::size_t i = 0; i < sides; ++i) {
        Sizes extra = node.integers_or("output_padding", Sizes(sides, 0));
        for (std::int64_t& size : extra) size = std::clamp<std::int64_t>(size, 0, 1'000'000);
        if (!transposed)
            out.push_back(slide(in.shape[2 + i], s, i));
        else if (stated.size() >= sides)  // of the sides alone, or with batch and channels before them
            out.push_back(stated[stated.size() - sides + i]);
        else if (s.same)
            out.push_back(in.shape[2 + i] * s.strides[i]);
        else
            out.push_back((in.shape[2 + i] - 1) * s.strides[i] - s.pads[i] - s.pads[i + sides] +
                          s.dilations[i] * (s.kernel[i] - 1) + 1 + (i < extra.size() ? extra[i] : 0));
    }
    Value& layer = f.layer(transposed ? "conv2d_transpose" : "conv2d", as_image(in.shape), as_image(out));
    layer.set("out", channels);
    set_window(layer, s, out, !transposed);
    if (groups > 1) layer.set("groups", groups);
    std::vector<OnnxValue> learned = {weight};
    if (f.has_input(node, 2))
        learned.push_back(f.input(node, 2));
    else
        layer.set("bias", false);
    f.learned().expect_name(weight.part, learned.size() > 1 ? learned[1].part : 0);
    f.learns(node, OnnxUse::kernel, count_of(weight.shape) + (learned.size() > 1 ? static_cast<double>(channels) : 0.0),
             learned);
    f.output(node, {out, {}, false});
}

void follow_pool(OnnxFollower& f, const OnnxNode& node) {
    const OnnxValue in = f.input(node, 0);
    const std::size_t sides = in.shape.size() < 2 ? 0 : in.shape.size() - 2;
    const Sliding s = read_sliding(node, {});
    if ((sides != 1 && sides != 2) || !is_sane(s, sides)) return f.fail(node, window_fault(s));
    Sizes out = {in.shape[0], in.shape[1]};
    for (std::size_t i = 0; i < sides; ++i) out.push_back(slide(in.shape[2 + i], s, i));
    Value& layer = f.layer(node.type == "MaxPool" ? "max_pool" : "avg_pool", as_image(in.shape), as_image(out));
    set_window(layer, s, out, true);
    f.output(node, {out, {}, false});
}

void follow_global_pool(OnnxFollower& f, const OnnxNode& node) {
    const OnnxValue in = f.input(node, 0);
    if (in.shape.size() < 3) return f.fail(node, "needs an image");
    Sizes out = in.shape;
    std::fill(out.begin() + 2, out.end(), 1);
    if (in.shape.size() <= 4) f.layer("global_avg_pool", as_image(in.shape), as_image(out));
    f.output(node, {out, {}, false});
}

void follow_resize(OnnxFollower& f, const OnnxNode& node) {
    const OnnxValue in = f.input(node, 0);
    if (in.shape.size() != 4) return f.fail(node, "needs an image");
    // Sizes, or scales: the second input up to opset 10, the third from 11 on. "axes" (from 18 on) names those meant.
    const std::size_t sizes_at = 3, scales_at = node.inputs.size() > 2 ? 2 : 1;
    Sizes axes = node.integers_or("axes", {});
    if (axes.empty()) axes = {0, 1, 2, 3};
    const auto sizes = f.has_input(node, sizes_at) ? f.input(node, sizes_at).values : std::optional<Sizes>();
    const auto scales =
        f.has_input(node, scales_at) ? f.input(node, scales_at).reals : std::optional<std::vector<double>>();
    if (!(sizes && sizes->size() == axes.size()) && !(scales && scales->size() == axes.size()))
        return f.fail(node, "its size is computed by the graph; export with fixed shapes");
    Sizes out = in.shape;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const std::size_t axis = axis_of(f, node, axes[i], out.size());
        if (f.failed()) return;
        if (sizes && sizes->size() == axes.size()) {
            out[axis] = (*sizes)[i];
            continue;
        }
        const double size = std::floor(static_cast<double>(in.shape[axis]) * (*scales)[i]);
        if (!(size >= 1.0 && size <= 1e12)) return f.fail(node, fmt::format("its scale is {}", (*scales)[i]));
        out[axis] = static_cast<std::int64_t>(size);
    }
    f.layer("upsample", in.shape, out).set("result", Value(Value::Array{out[2], out[3]}));
    f.output(node, {out, {}, false});
}

struct Rule {
    const char* type;
    OnnxRule follow;
};

constexpr Rule rules[] = {{"Conv", follow_conv},
                          {"ConvTranspose", follow_conv},
                          {"MaxPool", follow_pool},
                          {"AveragePool", follow_pool},
                          {"GlobalAveragePool", follow_global_pool},
                          {"GlobalMaxPool", follow_global_pool},
                          {"Resize", follow_resize},
                          {"Upsample", follow_resize}};

}  // namespace

OnnxRule find_window_rule(const std::string& type) {
    for (const Rule& rule : rules)
        if (type == rule.type) return rule.follow;
    return nullptr;
}

}  // namespace dlcast
