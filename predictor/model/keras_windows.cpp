// SPDX-License-Identifier: GPL-2.0-or-later
// Keras layers over the neighbourhood of each place: convolution, pooling, padding, cropping, resizing.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "predictor/model/keras_call.h"

namespace dlcast {
namespace {

struct Sliding {
    KerasShape kernel, strides, dilation;
    bool same = false;
};

// Whether the layer works on a sequence, [time, channels]; else on an image.
bool is_flat(const KerasCall& c) { return c.kind.ends_with("1D") || c.kind.ends_with("1DTranspose"); }

// The input as an image of dlcast, [channels, height, width]; a sequence is one column.
std::optional<KerasShape> image_of(KerasCall& c) {
    const bool flat = is_flat(c);
    const std::string format = c.text("data_format", "channels_last");
    if (format != "channels_last" && format != "channels_first") {
        c.fail_key("data_format", "it should be \"channels_last\" or \"channels_first\"");
        return std::nullopt;
    }
    if (flat && format == "channels_first") {
        c.fail_key("data_format", "sequences are read channels last alone; put a Permute before it");
        return std::nullopt;
    }
    if (!flat && (format == "channels_first") != c.out.channels_first) {
        c.fail_key("data_format", "other layers of this file say otherwise; give all of them one data_format");
        return std::nullopt;
    }
    if (!c.needs_rank(flat ? 2 : 3, flat ? "a sequence [time, channels]" : "an image [height, width, channels]"))
        return std::nullopt;
    return flat ? KerasShape{c.shape()[1], c.shape()[0], 1} : c.out.ours(c.shape());
}

// The image in Keras's order again.
KerasShape theirs_of(const KerasCall& c, const KerasShape& image) {
    if (is_flat(c)) return {image[1], image[0]};
    return c.out.channels_first ? image : KerasShape{image[1], image[2], image[0]};
}

Sliding read_sliding(KerasCall& c, const char* kernel_key, bool pools) {
    const std::size_t count = is_flat(c) ? 1 : 2;
    Sliding s;
    if (!pools && !c.value(kernel_key)) c.fail(fmt::format("needs \"{}\"; add it to its config", kernel_key));
    s.kernel = c.sides(kernel_key, count, 2);
    s.strides = pools && !c.value("strides") ? s.kernel : c.sides("strides", count, 1);
    s.dilation = pools ? KerasShape::filled(count, 1) : c.sides("dilation_rate", count, 1);
    const auto above_one = [](const KerasShape& sides) {
        return std::any_of(sides.begin(), sides.end(), [](std::int64_t size) { return size > 1; });
    };
    if (!pools && above_one(s.strides) && above_one(s.dilation))
        c.fail_key("dilation_rate", fmt::format("Keras takes it with strides of 1 alone, and they are {}; make one of "
                                                "the two 1",
                                                to_string(s.strides)));
    if (!pools && c.value("lora_rank"))
        c.fail_key("lora_rank",
                   "it is known of Dense and Embedding alone; leave it out here, or describe the network "
                   "with dlcast's own layers");
    const std::string padding = c.text("padding", "valid");
    const bool causal = padding == "causal" && c.kind.find("Conv1D") != std::string::npos;
    s.same = padding == "same" || causal;
    if ((!s.same && padding != "valid") || (c.value("padding") && !c.value("padding")->is_string()))
        c.fail_key("padding", fmt::format("it should be \"valid\" or \"same\"{}",
                                          c.kind == "Conv1D" || c.kind == "SeparableConv1D" ? " or \"causal\"" : ""));
    if (is_flat(c))
        for (KerasShape* sides : {&s.kernel, &s.strides, &s.dilation}) sides->push_back(1);
    return s;
}

// Below 1 where the window does not fit.
std::int64_t slide(std::int64_t in, const Sliding& s, std::size_t side) {
    if (s.same) return (in + s.strides[side] - 1) / s.strides[side];
    const std::int64_t span = in - s.dilation[side] * (s.kernel[side] - 1) - 1;
    return span < 0 ? 0 : span / s.strides[side] + 1;
}

Value pair_of(const KerasShape& sides) {
    return sides[0] == sides[1] ? Value(sides[0]) : Value(Value::Array{sides[0], sides[1]});
}

// What dlcast takes for granted stays out of the payload.
void set_window(Value& layer, const Sliding& s, bool pools) {
    layer.set("kernel", pair_of(s.kernel));
    if (pools ? s.strides != s.kernel : s.strides != KerasShape{1, 1}) layer.set("stride", pair_of(s.strides));
    if (s.same) layer.set("padding", "same");
    if (s.dilation != KerasShape{1, 1}) layer.set("dilation", pair_of(s.dilation));
}

bool fits(KerasCall& c, const KerasShape& image, const KerasShape& result) {
    if (!c.failed() && (result[1] < 1 || result[2] < 1))
        c.fail(fmt::format("its window is larger than its input {}; lower its kernel_size or pad before it",
                           to_string(theirs_of(c, image))));
    return !c.failed();
}

void write_conv(KerasCall& c) {
    const auto image = image_of(c);
    const std::int64_t filters = c.size("filters"), groups = c.size_or("groups", 1);
    const Sliding s = read_sliding(c, "kernel_size", false);
    const bool bias = c.flag("use_bias", true);
    if (c.failed()) return;
    const KerasShape result = {filters, slide((*image)[1], s, 0), slide((*image)[2], s, 1)};
    if (!fits(c, *image, result)) return;
    c.read(c.in.front());
    // dlcast has a convolution over a sequence of its own.
    const bool flat = is_flat(c);
    const KerasShape theirs = theirs_of(c, result);
    Value& layer = flat ? c.put_learned("conv1d", c.shape(), theirs) : c.put_learned("conv2d", *image, result);
    layer.set("out", filters);
    set_window(layer, s, false);
    if (flat)
        for (const char* key : {"kernel", "stride", "dilation"})
            if (Value* v = layer.find(key); v && v->is_array()) *v = Value(v->as_array()[0]);
    if (groups > 1) layer.set("groups", groups);
    if (!bias) layer.set("bias", false);
    c.set_activation(layer);
    c.leave(theirs);
}

void write_depthwise(KerasCall& c) {
    const bool separable = c.kind.starts_with("Separable");
    const auto image = image_of(c);
    const Sliding s = read_sliding(c, "kernel_size", false);
    const std::int64_t multiplier = c.size_or("depth_multiplier", 1);
    const std::int64_t filters = separable ? c.size("filters") : 0;
    const bool bias = c.flag("use_bias", true);
    if (c.failed()) return;
    const double channels = static_cast<double>((*image)[0]) * static_cast<double>(multiplier);
    if (channels > 1e9) return c.fail_key("depth_multiplier", "it makes over 1e9 channels; lower it");
    KerasShape result = {static_cast<std::int64_t>(channels), slide((*image)[1], s, 0), slide((*image)[2], s, 1)};
    if (!fits(c, *image, result)) return;
    c.read(c.in.front());
    Value& deep = c.put_learned("depthwise_conv2d", *image, result, separable ? ".depthwise" : "");
    set_window(deep, s, false);
    if (multiplier > 1) deep.set("multiplier", multiplier);
    if (separable || !bias) deep.set("bias", false);
    if (!separable) c.set_activation(deep);
    if (separable && !c.failed()) {
        const KerasShape seen = result;
        result[0] = filters;
        Value& point = c.put_learned("conv2d", seen, result);
        point.set("out", filters);
        point.set("kernel", 1);
        if (!bias) point.set("bias", false);
        c.set_activation(point);
    }
    c.leave(theirs_of(c, result));
}

// Keras's own rule for the size that a transposed convolution leaves: keras/src/ops/operation_utils.py and
// keras/src/backend/common/backend_utils.py.
void write_transposed(KerasCall& c) {
    const auto image = image_of(c);
    const std::int64_t filters = c.size("filters"), groups = c.size_or("groups", 1);
    const Sliding s = read_sliding(c, "kernel_size", false);
    const bool bias = c.flag("use_bias", true), extends = c.value("output_padding") != nullptr;
    KerasShape result = {filters, 1, 1};
    KerasShape extra = {0, 0};
    if (extends) {
        const Value* padding = c.value("output_padding");
        const auto read = [&](const Value& v) {
            const bool good = v.is_integer() && v.as_integer() >= 0 && v.as_integer() <= 1'000'000;
            if (!good) c.fail_key("output_padding", "it should be a whole number from 0, or one for each side");
            return good ? v.as_integer() : 0;
        };
        const bool list = padding->is_array() && !padding->as_array().empty();
        extra = list ? KerasShape{read(padding->as_array().front()), read(padding->as_array().back())}
                     : KerasShape{read(*padding), read(*padding)};
    }
    if (c.failed()) return;
    bool usual = true;  // dlcast infers the same
    for (std::size_t i = 0; i < (is_flat(c) ? 1U : 2U); ++i) {
        const std::int64_t in = (*image)[1 + i], span = s.dilation[i] * (s.kernel[i] - 1) + 1;
        if (static_cast<double>(in) * static_cast<double>(s.strides[i]) > 1e15)
            return c.fail_key("strides", "they make over 1e15 elements; lower them");
        if (extends)
            result[1 + i] = (in - 1) * s.strides[i] + span - (s.same ? 2 * (span / 2) : 0) + extra[i];
        else
            result[1 + i] =
                s.same ? in * s.strides[i] : in * s.strides[i] + std::max<std::int64_t>(span - s.strides[i], 0);
        const std::int64_t inferred = s.same ? in * s.strides[i] : (in - 1) * s.strides[i] + span;
        usual = usual && result[1 + i] == inferred && !is_flat(c);
    }
    if (!fits(c, *image, result)) return;
    c.read(c.in.front());
    Value& layer = c.put_learned("conv2d_transpose", *image, result);
    layer.set("out", filters);
    set_window(layer, s, false);
    if (!usual) layer.set("result", Value(Value::Array{result[1], result[2]}));
    if (groups > 1) layer.set("groups", groups);
    if (!bias) layer.set("bias", false);
    c.set_activation(layer);
    c.leave(theirs_of(c, result));
}

void write_pool(KerasCall& c) {
    const auto image = image_of(c);
    const Sliding s = read_sliding(c, "pool_size", true);
    if (c.failed()) return;
    const KerasShape result = {(*image)[0], slide((*image)[1], s, 0), slide((*image)[2], s, 1)};
    if (!fits(c, *image, result)) return;
    c.read(c.in.front());
    set_window(c.put(c.kind.starts_with("Max") ? "max_pool" : "avg_pool", *image, result), s, true);
    c.leave(theirs_of(c, result));
}

void write_global_pool(KerasCall& c) {
    const auto image = image_of(c);
    const bool keeps = c.flag("keepdims", false);
    if (c.failed()) return;
    const KerasShape result = {(*image)[0], 1, 1};
    c.read(c.in.front());
    c.put("global_avg_pool", *image, result);
    c.leave(keeps ? theirs_of(c, result) : KerasShape{result[0]});
}

// [top, bottom, left, right] of "padding" or "cropping": one number, one a side, or two a side.
std::optional<std::vector<std::int64_t>> read_borders(KerasCall& c, const char* key) {
    const Value* v = c.value(key);
    const std::size_t count = is_flat(c) ? 1 : 2;
    std::vector<std::int64_t> out;
    bool good = true;
    const auto take = [&](const Value& one) {
        good = good && one.is_integer() && one.as_integer() >= 0 && one.as_integer() <= 1'000'000;
        out.push_back(good ? one.as_integer() : 0);
    };
    const Value standard = is_flat(c) ? 1 : c.kind.starts_with("Cropping") ? 0 : 1;
    if (!v) v = &standard;
    if (!v->is_array()) {
        for (std::size_t i = 0; i < 2 * count; ++i) take(*v);
    } else if (count == 1) {
        for (const Value& side : v->as_array()) take(side);
    } else {
        for (const Value& pair : v->as_array()) {
            if (pair.is_array())
                for (const Value& side : pair.as_array()) take(side);
            else
                take(pair), take(pair);
        }
    }
    if (good && out.size() == 2 * count) {
        out.resize(4, 0);
        return out;
    }
    c.fail_key(key, count == 1
                        ? "it should be a whole number from 0, or [before, behind]"
                        : "it should be a whole number from 0, [height, width] or [[top, bottom], [left, right]]");
    return std::nullopt;
}

void put_result(KerasCall& c, const KerasShape& image, const KerasShape& result) {
    if (!fits(c, image, result)) return;
    c.read(c.in.front());
    Value shape = Value::array();
    for (const std::int64_t size : result) shape.push(size);
    c.put("reshape", result, result).set("shape", std::move(shape));
    c.leave(theirs_of(c, result));
}

void write_padding(KerasCall& c) {
    const auto image = image_of(c);
    const auto borders = read_borders(c, "padding");
    if (c.failed()) return;
    const KerasShape result = {(*image)[0], (*image)[1] + (*borders)[0] + (*borders)[1],
                               (*image)[2] + (*borders)[2] + (*borders)[3]};
    c.read(c.in.front());
    Value sides = Value::array();
    for (const std::int64_t side : *borders) sides.push(side);
    c.put("pad", *image, result).set("padding", std::move(sides));
    c.leave(theirs_of(c, result));
}

void write_cropping(KerasCall& c) {
    const auto image = image_of(c);
    const auto borders = read_borders(c, "cropping");
    if (c.failed()) return;
    put_result(c, *image,
               {(*image)[0], (*image)[1] - (*borders)[0] - (*borders)[1], (*image)[2] - (*borders)[2] - (*borders)[3]});
}

void put_resized(KerasCall& c, const KerasShape& image, const KerasShape& result) {
    c.read(c.in.front());
    Value& layer = c.put("upsample", image, result);
    if (result[1] == 2 * image[1] && result[2] == 2 * image[2])
        layer.set("factor", 2);
    else
        layer.set("result", Value(Value::Array{result[1], result[2]}));
    c.leave(theirs_of(c, result));
}

void write_upsampling(KerasCall& c) {
    const auto image = image_of(c);
    KerasShape times = c.sides("size", is_flat(c) ? 1 : 2, 2);
    if (c.failed()) return;
    if (times.size() == 1) times.push_back(1);
    if (elements(*image) * static_cast<double>(times[0]) * static_cast<double>(times[1]) > 1e15)
        return c.fail_key("size", "it makes over 1e15 elements; lower it");
    put_resized(c, *image, {(*image)[0], (*image)[1] * times[0], (*image)[2] * times[1]});
}

void write_resizing(KerasCall& c) {
    const auto image = image_of(c);
    const KerasShape sides = {c.size("height"), c.size("width")};
    if (!c.failed()) put_resized(c, *image, {(*image)[0], sides[0], sides[1]});
}

void write_cut(KerasCall& c) {
    const auto image = image_of(c);
    const KerasShape sides = {c.size("height"), c.size("width")};
    if (!c.failed()) put_result(c, *image, {(*image)[0], sides[0], sides[1]});
}

struct Rule {
    std::string_view kind;
    KerasRule write;
};

constexpr Rule rules[] = {{"Conv1D", write_conv},
                          {"Conv2D", write_conv},
                          {"Convolution1D", write_conv},
                          {"Convolution2D", write_conv},
                          {"DepthwiseConv1D", write_depthwise},
                          {"DepthwiseConv2D", write_depthwise},
                          {"SeparableConv1D", write_depthwise},
                          {"SeparableConv2D", write_depthwise},
                          {"Conv1DTranspose", write_transposed},
                          {"Conv2DTranspose", write_transposed},
                          {"MaxPooling1D", write_pool},
                          {"MaxPooling2D", write_pool},
                          {"AveragePooling1D", write_pool},
                          {"AveragePooling2D", write_pool},
                          {"GlobalAveragePooling1D", write_global_pool},
                          {"GlobalAveragePooling2D", write_global_pool},
                          {"GlobalMaxPooling1D", write_global_pool},
                          {"GlobalMaxPooling2D", write_global_pool},
                          {"ZeroPadding1D", write_padding},
                          {"ZeroPadding2D", write_padding},
                          {"Cropping1D", write_cropping},
                          {"Cropping2D", write_cropping},
                          {"UpSampling1D", write_upsampling},
                          {"UpSampling2D", write_upsampling},
                          {"Resizing", write_resizing},
                          {"CenterCrop", write_cut},
                          {"RandomCrop", write_cut}};

}  // namespace

KerasRule find_keras_window_rule(const std::string& kind) {
    for (const Rule& rule : rules)
        if (rule.kind == kind) return rule.write;
    return nullptr;
}

}  // namespace dlcast
