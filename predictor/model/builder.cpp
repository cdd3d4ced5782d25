// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/builder.h"

#include <fmt/format.h>

#include "predictor/base/deadline.h"
#include "predictor/model/shape.h"

namespace dlcast {
namespace {

constexpr std::size_t most_layers = 100'000;
constexpr std::size_t layers_between_polls = 64;  // reading the clock costs as much as five layers
constexpr double most_elements = 1e15;  // of a tensor, and of all parameters: far above any machine, far below overflow

struct Side {
    std::int64_t kernel, pad, stride, dilation;
};

Side height_of(const Window& w) { return {w.kernel_h, w.pad_h, w.stride, w.dilation}; }
Side width_of(const Window& w) {
    return {w.kernel_w, w.pad_w, w.stride_w > 0 ? w.stride_w : w.stride, w.dilation_w > 0 ? w.dilation_w : w.dilation};
}

// Output size of a window along one side; below 1 where it does not fit.
std::int64_t slide(std::int64_t in, const Side& s, const Window& w) {
    if (w.same) return (in + s.stride - 1) / s.stride;
    const std::int64_t span = in + 2 * s.pad - s.dilation * (s.kernel - 1) - 1;
    if (span < 0) return 0;
    return (w.ceil_mode ? (span + s.stride - 1) / s.stride : span / s.stride) + 1;
}

// How often `groups` does not fit into channels, with the remedy.
std::string group_fault(const char* kind, std::int64_t groups, std::int64_t in, std::int64_t out) {
    const auto divides = [&](std::int64_t channels) { return groups >= 1 && channels % groups == 0; };
    if (divides(in) && divides(out)) return "";
    return fmt::format("{} with {} groups: {}; make groups a divisor of both", kind, groups,
                       !divides(in) && !divides(out)
                           ? fmt::format("they divide neither its {} input nor its {} output channels", in, out)
                       : divides(in) ? fmt::format("they do not divide its {} output channels", out)
                                     : fmt::format("they do not divide its {} input channels", in));
}

constexpr const char* too_many_parameters = "more than 1e15 parameters; lower the widths of its layers";

double as_double(std::int64_t value) { return static_cast<double>(value); }

}  // namespace

Window window(std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
    Window w;
    w.kernel_h = w.kernel_w = kernel;
    w.stride = stride;
    w.pad_h = w.pad_w = padding;
    return w;
}

ModelBuilder::ModelBuilder(Shape input) : shape_(std::move(input)) {
    for (const std::int64_t dimension : shape_)
        if (dimension < 1)
            fail(fmt::format("the input has shape {}; every dimension should be at least 1", to_string(shape_)));
    if (shape_.empty()) {
        fail("the input has no dimension");
        shape_ = {1};
    }
    if (elements(shape_) > most_elements)
        fail(fmt::format("the input {} has over 1e15 elements; write the shape of one sample", to_string(shape_)));
}

void ModelBuilder::fail(std::string text) {
    if (fault_.empty()) fault_ = std::move(text);
}

Layer& ModelBuilder::append(std::string name, LayerKind kind, Shape output, double parameters) {
    if (!failed() && model_.layers.size() >= most_layers)
        fail(fmt::format("more than {} layers; lower \"repeat\" or the number of blocks", most_layers));
    if (model_.layers.size() % layers_between_polls == 0 && Deadline::passed())
        fail(fmt::format("its first {} layers take all the time a submission may; describe a part of the network",
                         model_.layers.size()));
    for (const std::int64_t dimension : output)
        if (dimension < 1)
            fail(fmt::format("{} gives shape {}; nothing is left of its input {}", dlcast::to_string(kind),
                             to_string(output), to_string(shape_)));
    if (elements(output) > most_elements)
        fail(fmt::format("an output of shape {} has over 1e15 elements; lower the sizes that lead to it",
                         to_string(output)));
    parameters_ += parameters;
    if (parameters_ > most_elements) fail(too_many_parameters);
    if (failed()) return discarded_;
    Layer& layer = model_.layers.emplace_back();
    layer.name = std::move(name);
    layer.kind = kind;
    layer.input = std::move(shape_);
    layer.output = output;
    layer.parameters = static_cast<std::uint64_t>(parameters);
    layer.block = block_;
    layer.head = head_;
    shape_ = std::move(output);
    return layer;
}

void ModelBuilder::add_parameters(Layer& layer, double count) {
    parameters_ += count;
    if (parameters_ > most_elements) return fail(too_many_parameters);
    const double sum = static_cast<double>(layer.parameters) + count;
    if (sum < 0.0) return fail("fewer than no parameters");
    layer.parameters = static_cast<std::uint64_t>(sum);
}

void ModelBuilder::share() {
    if (!failed()) share_from(size() - 1);
}

void ModelBuilder::share_from(std::size_t first) {
    for (std::size_t i = first; i < size(); ++i) {
        Layer& layer = model_.layers[i];
        layer.tied = layer.parameters > 0;
        parameters_ -= static_cast<double>(layer.parameters);
        layer.parameters = 0;
    }
}

void ModelBuilder::freeze_from(std::size_t first) {
    for (std::size_t i = first; i < size(); ++i) model_.layers[i].trainable = false;
}

bool ModelBuilder::is_image(const char* kind) {
    if (!failed() && shape_.size() != 3)
        fail(fmt::format("{} needs an image [channels, height, width]; its input has shape {}", kind,
                         to_string(shape_)));
    return !failed();
}

Shape ModelBuilder::windowed(const Window& w, std::int64_t channels) {
    if (w.out_h > 0) return {channels, w.out_h, w.out_w};
    return {channels, slide(shape_[1], height_of(w), w), slide(shape_[2], width_of(w), w)};
}

Layer& ModelBuilder::conv(std::string name, std::int64_t out, const Window& w, bool bias, std::int64_t groups) {
    if (!is_image("conv2d")) return discarded_;
    const std::int64_t in = shape_[0];
    if (const std::string text = group_fault("conv2d", groups, in, out); !text.empty()) {
        fail(text);
        return discarded_;
    }
    const double weights = as_double(w.kernel_h) * as_double(w.kernel_w) * as_double(in / groups) * as_double(out);
    Layer& layer =
        append(std::move(name), LayerKind::conv2d, windowed(w, out), weights + (bias ? as_double(out) : 0.0));
    layer.kernel_h = w.kernel_h;
    layer.kernel_w = w.kernel_w;
    layer.stride = w.stride;
    layer.groups = groups;
    layer.bias = bias;
    return layer;
}

Layer& ModelBuilder::transposed_conv(std::string name, std::int64_t out, const Window& w, bool bias,
                                     std::int64_t groups) {
    if (!is_image("conv2d_transpose")) return discarded_;
    const std::int64_t in = shape_[0];
    const Side h = height_of(w), v = width_of(w);
    if (const std::string text = group_fault("conv2d_transpose", groups, in, out); !text.empty()) fail(text);
    if (elements(shape_) * as_double(h.stride) * as_double(v.stride) > most_elements)
        fail("conv2d_transpose makes over 1e15 elements; lower its stride");
    if (failed()) return discarded_;
    const auto grow = [&](std::int64_t size, const Side& s) {
        return w.same ? size * s.stride : (size - 1) * s.stride - 2 * s.pad + s.dilation * (s.kernel - 1) + 1;
    };
    Shape output = w.out_h > 0 ? Shape{out, w.out_h, w.out_w} : Shape{out, grow(shape_[1], h), grow(shape_[2], v)};
    const double weights = as_double(w.kernel_h) * as_double(w.kernel_w) * as_double(in) * as_double(out / groups);
    Layer& layer =
        append(std::move(name), LayerKind::conv2d, std::move(output), weights + (bias ? as_double(out) : 0.0));
    layer.kernel_h = w.kernel_h;
    layer.kernel_w = w.kernel_w;
    layer.stride = w.stride;
    layer.function = "transposed";
    layer.groups = groups;
    layer.bias = bias;
    return layer;
}

Layer& ModelBuilder::pool(std::string name, LayerKind kind, const Window& w) {
    if (!is_image(dlcast::to_string(kind))) return discarded_;
    Layer& layer = append(std::move(name), kind, windowed(w, shape_[0]), 0.0);
    layer.kernel_h = w.kernel_h;
    layer.kernel_w = w.kernel_w;
    layer.stride = w.stride;
    return layer;
}

Layer& ModelBuilder::max_pool(std::string name, const Window& w) {
    return pool(std::move(name), LayerKind::max_pool, w);
}
Layer& ModelBuilder::avg_pool(std::string name, const Window& w) {
    return pool(std::move(name), LayerKind::avg_pool, w);
}

Layer& ModelBuilder::adaptive_pool(std::string name, std::int64_t height, std::int64_t width) {
    if (!is_image("avg_pool")) return discarded_;
    const Shape in = shape_;
    Layer& layer = append(std::move(name), LayerKind::avg_pool, {in[0], height, width}, 0.0);
    layer.kernel_h = (in[1] + height - 1) / height;
    layer.kernel_w = (in[2] + width - 1) / width;
    layer.stride = layer.kernel_h;
    return layer;
}

Layer& ModelBuilder::global_avg_pool(std::string name) {
    if (!is_image("global_avg_pool")) return discarded_;
    const Shape in = shape_;
    Layer& layer = append(std::move(name), LayerKind::global_avg_pool, {in[0], 1, 1}, 0.0);
    layer.kernel_h = in[1];
    layer.kernel_w = in[2];
    return layer;
}

Layer& ModelBuilder::upsample(std::string name, std::int64_t factor) {
    if (!is_image("upsample")) return discarded_;
    if (elements(shape_) * as_double(factor) * as_double(factor) > most_elements)
        fail("upsample makes over 1e15 elements; lower its factor");
    if (failed()) return discarded_;
    return append(std::move(name), LayerKind::upsample, {shape_[0], shape_[1] * factor, shape_[2] * factor}, 0.0);
}

Layer& ModelBuilder::linear(std::string name, std::int64_t out, bool bias) {
    Shape output = shape_;
    output.back() = out;
    const double weights = as_double(shape_.back()) * as_double(out);
    Layer& layer =
        append(std::move(name), LayerKind::linear, std::move(output), weights + (bias ? as_double(out) : 0.0));
    layer.bias = bias;
    return layer;
}

Layer& ModelBuilder::norm(std::string name, LayerKind kind, bool bias) {
    const bool by_channel = kind == LayerKind::batch_norm || kind == LayerKind::group_norm;
    const double width = as_double(by_channel && shape_.size() == 3 ? shape_.front() : shape_.back());
    Layer& layer = append(std::move(name), kind, shape_, width * (bias ? 2.0 : 1.0));
    layer.bias = bias;
    return layer;
}

Layer& ModelBuilder::activation(std::string name, std::string function) {
    Layer& layer = append(std::move(name), LayerKind::activation, shape_, 0.0);
    layer.function = std::move(function);
    return layer;
}

Layer& ModelBuilder::dropout(std::string name) { return append(std::move(name), LayerKind::dropout, shape_, 0.0); }
Layer& ModelBuilder::softmax(std::string name) { return append(std::move(name), LayerKind::softmax, shape_, 0.0); }
Layer& ModelBuilder::add(std::string name) { return append(std::move(name), LayerKind::add, shape_, 0.0); }
Layer& ModelBuilder::multiply(std::string name) { return append(std::move(name), LayerKind::multiply, shape_, 0.0); }

Layer& ModelBuilder::concat(std::string name, std::int64_t others) {
    Shape output = shape_;
    (output.size() == 3 ? output.front() : output.back()) += others;
    return append(std::move(name), LayerKind::concat, std::move(output), 0.0);
}

Layer& ModelBuilder::flatten(std::string name) {
    return append(std::move(name), LayerKind::flatten, {static_cast<std::int64_t>(elements(shape_))}, 0.0);
}

Layer& ModelBuilder::reshape(std::string name, Shape output) {
    return append(std::move(name), LayerKind::reshape, std::move(output), 0.0);
}

Layer& ModelBuilder::loss(std::string name) {
    const std::int64_t classes = shape_.back();
    Layer& layer = append(std::move(name), LayerKind::loss, shape_, 0.0);
    layer.vocab = classes;
    return layer;
}

Layer& ModelBuilder::embedding(std::string name, std::int64_t vocab, std::int64_t width) {
    Layer& layer =
        append(std::move(name), LayerKind::embedding, {shape_.front(), width}, as_double(vocab) * as_double(width));
    layer.vocab = vocab;
    return layer;
}

Layer& ModelBuilder::attention(std::string name, std::int64_t heads, std::int64_t kv_heads, std::int64_t head_dim) {
    Layer& layer = append(std::move(name), LayerKind::attention, {shape_.front(), heads * head_dim}, 0.0);
    layer.heads = heads;
    layer.kv_heads = kv_heads;
    layer.head_dim = head_dim;
    return layer;
}

Layer& ModelBuilder::recurrent(std::string name, LayerKind kind, std::int64_t hidden, bool bidirectional) {
    if (!failed() && shape_.size() != 2)
        fail(fmt::format("{} needs a sequence [tokens, width]; its input has shape {}", dlcast::to_string(kind),
                         to_string(shape_)));
    if (failed()) return discarded_;
    const double gates = kind == LayerKind::lstm ? 4.0 : 3.0;
    const double directions = bidirectional ? 2.0 : 1.0;
    const double weights = gates * as_double(hidden) * (as_double(shape_.back()) + as_double(hidden) + 2.0);
    Layer& layer =
        append(std::move(name), kind, {shape_.front(), hidden * (bidirectional ? 2 : 1)}, directions * weights);
    layer.groups = bidirectional ? 2 : 1;
    return layer;
}

Result<ModelSpec> ModelBuilder::finish(std::string name, std::string family) {
    if (!failed() && model_.layers.empty()) fail("a model needs at least one layer");
    if (failed()) return invalid_argument(fault_);
    model_.name = std::move(name);
    model_.family = std::move(family);
    count_parameters(model_);
    return std::move(model_);
}

void count_parameters(ModelSpec& model) {
    model.parameters = model.trainable_parameters = 0;
    for (const Layer& layer : model.layers) {
        if (!layer.head) model.parameters += layer.parameters;
        if (layer.trainable) model.trainable_parameters += layer.parameters;
    }
}

}  // namespace dlcast
