// SPDX-License-Identifier: GPL-2.0-or-later
// What Keras layers become, but for those that slide a window or read a sequence.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "predictor/model/keras_call.h"

namespace dlcast {
namespace {

// A layer of that type over its input, whatever its shape.
void put_over_input(KerasCall& c, const char* type) {
    c.read(c.in.front());
    const KerasShape ours = c.out.ours(c.shape());
    c.put(type, ours, ours);
    c.leave(c.shape());
}

// Behind the last dimension; channels last that is a convolution of 1 x 1 over an image.
Value& put_dense(KerasCall& c, const KerasShape& from, const KerasShape& to, bool bias, const char* part = "") {
    const bool image = from.size() == 3 && !c.out.channels_first;
    Value& layer = c.put_learned(image ? "conv2d" : "linear", c.out.ours(from), c.out.ours(to), part);
    layer.set("out", to.back());
    if (image) layer.set("kernel", 1);
    if (!bias) layer.set("bias", false);
    return layer;
}

void write_dense(KerasCall& c) {
    const std::int64_t units = c.size("units"), rank = c.lora_rank();
    const bool bias = c.flag("use_bias", true);
    const KerasShape from = c.shape();
    KerasShape theirs = from;
    theirs.back() = units;
    c.read(c.in.front());
    Value& layer = put_dense(c, from, theirs, bias && rank == 0);
    if (rank == 0) {
        c.set_activation(layer);
        return c.leave(theirs);
    }
    layer.set("trainable", false);
    KerasShape thin = from;
    thin.back() = rank;
    c.read(c.in.front());
    put_dense(c, from, thin, false, ".lora_a");
    put_dense(c, thin, theirs, false, ".lora_b");
    c.put_lora_sum(c.out.ours(theirs), bias ? units : 0);
    Value function = Value::object();
    c.set_activation(function);
    if (const Value* named = function.find("activation"))
        c.put(named->as_string().c_str(), c.out.ours(theirs), c.out.ours(theirs), ".activation");
    c.leave(theirs);
}

void write_activation(KerasCall& c) {
    const Value* named = c.value("activation");
    const auto known = named ? keras_activation(*named) : std::nullopt;
    if (!known)
        return c.fail_key("activation", named ? "no such function is known; name a like one (relu, gelu, silu, tanh)"
                                              : "needs \"activation\"; add it to its config");
    if (*known == "linear") return c.left.push_back(c.in.front());
    put_over_input(c, known->c_str());
}

void write_relu(KerasCall& c) {
    const Value* most = c.value("max_value");
    const Value* slope = c.value("negative_slope");
    const bool leaks = slope && slope->is_number() && slope->as_number() != 0.0;
    put_over_input(c, leaks ? "leaky_relu" : most && most->is_number() && most->as_number() == 6.0 ? "relu6" : "relu");
}

// A learned slope for each element, those along shared axes being one.
void write_prelu(KerasCall& c) {
    KerasShape slopes = c.shape();
    if (c.value("shared_axes")) {
        const auto axes = c.axes("shared_axes", 1, slopes.size());
        if (!axes) return;
        for (const std::size_t axis : *axes) slopes[axis] = 1;
    }
    c.read(c.in.front());
    const KerasShape ours = c.out.ours(c.shape());
    c.put_learned("prelu", ours, ours).set("parameters", static_cast<std::int64_t>(elements(slopes)));
    c.leave(c.shape());
}

// Dense layers of dlcast count gamma and beta; "center" is beta, "scale" gamma.
void put_norm(KerasCall& c, const char* type, const KerasShape& ours) {
    const bool center = c.flag("center", true), scale = c.flag("scale", true);
    c.read(c.in.front());
    Value& layer = c.put_learned(type, ours, ours);
    if (!center) layer.set("bias", false);
    if (!scale) layer.set("scale", false);
    c.leave(c.shape());
}

// Over the channels: the first dimension of an image that counts them first, else the last.
void write_channel_norm(KerasCall& c) {
    const auto axes = c.axes("axis", -1, c.shape().size());
    if (!axes) return;
    const std::size_t channels = c.shape().size() == 3 && c.out.channels_first ? 0 : c.shape().size() - 1;
    if (*axes != std::vector<std::size_t>{channels})
        return c.fail_key("axis", fmt::format("only the channels are known, axis {} of {}; normalise over them, or "
                                              "describe the network with dlcast's own layers",
                                              channels + 1, to_string(c.shape())));
    put_norm(c, c.kind == "GroupNormalization" ? "group_norm" : "batch_norm", c.out.ours(c.shape()));
}

void write_last_norm(KerasCall& c) {
    const KerasShape& theirs = c.shape();
    const auto axes = c.axes("axis", -1, theirs.size());
    if (!axes) return;
    if (*axes != std::vector<std::size_t>{theirs.size() - 1})
        return c.fail_key("axis", fmt::format("only the last axis is known, {} of {}; normalise over it, or describe "
                                              "the network with dlcast's own layers",
                                              theirs.size(), to_string(theirs)));
    const bool image = theirs.size() == 3 && !c.out.channels_first;
    const KerasShape rows = image ? KerasShape{theirs[0] * theirs[1], theirs[2]} : theirs;
    if (c.kind != "RMSNormalization") return put_norm(c, "layer_norm", rows);
    c.read(c.in.front());
    c.put_learned("rms_norm", rows, rows);
    c.leave(theirs);
}

void write_flatten(KerasCall& c) {
    c.read(c.in.front());
    const KerasShape flat = {static_cast<std::int64_t>(elements(c.shape()))};
    c.put("flatten", c.out.ours(c.shape()), flat);
    c.leave(flat);
}

void put_view(KerasCall& c, const KerasShape& theirs) {
    const KerasShape ours = c.out.ours(theirs);
    c.read(c.in.front());
    Value shape = Value::array();
    for (const std::int64_t size : ours) shape.push(size);
    // Where elements were cut or copied, the layer says what it reads.
    const bool same = elements(theirs) == elements(c.shape());
    c.put("reshape", same ? c.out.ours(c.shape()) : ours, ours).set("shape", std::move(shape));
    c.leave(theirs);
}

void write_reshape(KerasCall& c) {
    const Value* target = c.value("target_shape");
    KerasShape theirs;
    std::optional<std::size_t> open;
    double known = 1.0;
    if (target && target->is_array())
        for (const Value& size : target->as_array()) {
            if (!size.is_integer() || (size.as_integer() < 1 && (size.as_integer() != -1 || open)))
                return c.fail_key("target_shape", "it should be whole numbers from 1 on, one of them -1 at most");
            if (size.as_integer() == -1) open = theirs.size();
            theirs.push_back(size.as_integer());
            if (size.as_integer() > 0) known *= static_cast<double>(size.as_integer());
        }
    if (theirs.size() == 0 || target->as_array().size() > 3)
        return c.fail_key("target_shape", "it should be an array of 1 to 3 sizes, without the batch");
    const double all = elements(c.shape());
    if (open) theirs[*open] = static_cast<std::int64_t>(all / known);
    if (elements(theirs) != all)
        return c.fail_key("target_shape",
                          fmt::format("it should hold the {:.0f} elements of its input {}", all, to_string(c.shape())));
    put_view(c, theirs);
}

void write_permute(KerasCall& c) {
    const auto axes = c.axes("dims", 1, c.shape().size());
    if (!axes) return;
    std::vector<std::size_t> sorted = *axes;
    std::sort(sorted.begin(), sorted.end());
    bool whole = sorted.size() == c.shape().size();
    for (std::size_t i = 0; whole && i < sorted.size(); ++i) whole = sorted[i] == i;
    if (!whole) return c.fail_key("dims", fmt::format("it should name each of the {} axes once", c.shape().size()));
    KerasShape theirs;
    for (const std::size_t axis : *axes) theirs.push_back(c.shape()[axis]);
    put_view(c, theirs);
}

void write_repeat(KerasCall& c) {
    const std::int64_t times = c.size("n");
    if (c.needs_rank(1, "a vector")) put_view(c, {times, c.shape()[0]});
}

// Sizes of 1 spread over the other's, aligned from the end.
std::optional<KerasShape> spread(const KerasShape& a, const KerasShape& b) {
    KerasShape out = KerasShape::filled(std::max(a.size(), b.size()), 1);
    for (std::size_t i = 0; i < out.size(); ++i) {
        const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1, y = i < b.size() ? b[b.size() - 1 - i] : 1;
        if (x != y && x != 1 && y != 1) return std::nullopt;
        out[out.size() - 1 - i] = std::max(x, y);
    }
    return out;
}

void write_elementwise(KerasCall& c) {
    const bool product = c.kind == "Multiply" || c.kind == "Maximum" || c.kind == "Minimum" || c.kind == "Divide" ||
                         c.kind == "TrueDivide";
    const char* type = product ? "multiply" : "add";
    const KerasShape first = c.shape();
    const bool alike = std::all_of(c.in.begin(), c.in.end(), [&](const KerasTensor& t) { return t.shape == first; });
    if (alike && c.in.size() > 1) {
        c.put_join(type, c.in, c.out.ours(first));
        return c.leave(first);
    }
    KerasShape theirs = first;
    c.read(c.in.front());
    for (std::size_t i = 1; i < std::max<std::size_t>(2, c.in.size()); ++i) {
        // An operation with a constant has one tensor.
        const auto both = i < c.in.size() ? spread(theirs, c.in[i].shape) : std::optional(theirs);
        if (!both)
            return c.fail(fmt::format("joins shapes {} and {}, which differ; give them one shape", to_string(theirs),
                                      to_string(c.in[i].shape)));
        theirs = *both;
        c.put_at(type, c.out.ours(theirs), i + 1 < c.in.size() ? fmt::format(".{}", i) : "");
    }
    c.leave(theirs);
}

void write_concatenate(KerasCall& c) {
    KerasShape theirs = c.shape();
    const auto axes = c.axes("axis", -1, theirs.size());
    if (!axes) return;
    const std::size_t axis = axes->front();
    double sum = 0.0;
    for (const KerasTensor& tensor : c.in) {
        KerasShape other = tensor.shape;
        if (other.size() == theirs.size()) sum += static_cast<double>(other[axis]);
        if (other.size() == theirs.size()) other[axis] = theirs[axis];
        if (other != theirs)
            return c.fail(fmt::format("joins shapes {} and {} along axis {}; all other sizes should be equal",
                                      to_string(theirs), to_string(tensor.shape), axis + 1));
    }
    if (sum > 1e9) return c.fail("makes over 1e9 elements along its axis; join fewer layers");
    theirs[axis] = static_cast<std::int64_t>(sum);
    const KerasShape ours = c.out.ours(theirs);
    const std::size_t channels = theirs.size() == 3 && c.out.channels_first ? 0 : theirs.size() - 1;
    if (axis == channels) {
        c.put_join("concat", c.in, ours);
    } else {
        // Along another axis: nothing comes to the channels.
        c.read(c.in.front());
        c.put_at("concat", ours);
    }
    c.leave(theirs);
}

void write_dropout(KerasCall& c) { put_over_input(c, "dropout"); }
void write_softmax(KerasCall& c) { put_over_input(c, "softmax"); }
void write_leaky(KerasCall& c) { put_over_input(c, "leaky_relu"); }
void write_elu(KerasCall& c) { put_over_input(c, "elu"); }

// Layers that change or augment the data, too cheap to count.
void pass(KerasCall& c) { c.left.push_back(c.in.front()); }

struct Rule {
    std::string_view kind;
    KerasRule write;
};

constexpr Rule rules[] = {{"Dense", write_dense},
                          {"Activation", write_activation},
                          {"ReLU", write_relu},
                          {"LeakyReLU", write_leaky},
                          {"PReLU", write_prelu},
                          {"ELU", write_elu},
                          {"Softmax", write_softmax},
                          {"BatchNormalization", write_channel_norm},
                          {"GroupNormalization", write_channel_norm},
                          {"LayerNormalization", write_last_norm},
                          {"RMSNormalization", write_last_norm},
                          {"Dropout", write_dropout},
                          {"SpatialDropout1D", write_dropout},
                          {"SpatialDropout2D", write_dropout},
                          {"GaussianDropout", write_dropout},
                          {"AlphaDropout", write_dropout},
                          {"Flatten", write_flatten},
                          {"Reshape", write_reshape},
                          {"Permute", write_permute},
                          {"RepeatVector", write_repeat},
                          {"Add", write_elementwise},
                          {"Subtract", write_elementwise},
                          {"Average", write_elementwise},
                          {"Multiply", write_elementwise},
                          {"Maximum", write_elementwise},
                          {"Minimum", write_elementwise},
                          {"Divide", write_elementwise},
                          {"TrueDivide", write_elementwise},
                          {"Concatenate", write_concatenate},
                          {"Rescaling", pass},
                          {"Normalization", pass},
                          {"RandomFlip", pass},
                          {"RandomRotation", pass},
                          {"RandomZoom", pass},
                          {"RandomTranslation", pass},
                          {"RandomContrast", pass},
                          {"RandomBrightness", pass},
                          {"GaussianNoise", pass},
                          {"Masking", pass},
                          {"Identity", pass},
                          {"ActivityRegularization", pass}};

}  // namespace

KerasRule find_keras_rule(const std::string& kind) {
    for (const Rule& rule : rules)
        if (rule.kind == kind) return rule.write;
    const KerasRule window = find_keras_window_rule(kind);
    return window ? window : find_keras_sequence_rule(kind);
}

}  // namespace dlcast
