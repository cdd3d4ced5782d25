// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/written_layer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "predictor/base/text.h"

namespace dlcast {
namespace {

constexpr std::int64_t most_size = 1'000'000'000;

constexpr std::array activations = {"relu",       "relu6",    "leaky_relu", "prelu", "elu",     "selu",
                                    "gelu",       "gelu_new", "quick_gelu", "silu",  "sigmoid", "hard_sigmoid",
                                    "hard_swish", "tanh",     "softplus",   "mish"};

}  // namespace

std::optional<std::string> activation_from(std::string_view name) {
    std::string wanted = to_lower(name);
    if (wanted == "swish") wanted = "silu";
    if (wanted == "leakyrelu") wanted = "leaky_relu";
    if (wanted == "hardswish") wanted = "hard_swish";
    if (std::find(activations.begin(), activations.end(), wanted) != activations.end()) return wanted;
    return std::nullopt;
}

WrittenLayer::WrittenLayer(const Value& value, const std::string& source, std::string layer_type,
                           std::string layer_name, ModelBuilder& builder)
    : type(std::move(layer_type)),
      name(std::move(layer_name)),
      b(builder),
      reader(value, source, type),
      value_(value),
      source_(source) {
    for (const char* key : {"type", "name", "repeat", "from", "trainable", "tied"}) reader.value(key);
}

std::int64_t WrittenLayer::need(const char* key, const char* example) {
    if (!reader.has(key) && missing_.empty())
        missing_ = fmt::format("{} needs a {}; add \"{}\": {}", type, key, key, example);
    return reader.integer(key, 1, most_size).value_or(1);
}

std::int64_t WrittenLayer::size_or(const char* key, std::int64_t standard, std::int64_t min) {
    return reader.integer(key, min, most_size).value_or(standard);
}

std::string WrittenLayer::text_or(const char* key, const std::string& standard) {
    const auto text = reader.string(key);
    return text ? to_lower(*text) : standard;
}

std::optional<WrittenLayer::Pair> WrittenLayer::pair(const char* key, std::int64_t min) {
    const Value* v = reader.value(key);
    if (!v) return std::nullopt;
    if (v->is_array()) {
        const auto both = reader.integers(key, min, most_size);
        if (both && both->size() == 2) return Pair{(*both)[0], (*both)[1]};
        if (both) reader.fail(key, fmt::format("{} should be one number or [height, width]", key));
        return std::nullopt;
    }
    const auto one = reader.integer(key, min, most_size);
    return one ? std::optional(Pair{*one, *one}) : std::nullopt;
}

WrittenLayer::Pair WrittenLayer::need_pair(const char* key, const char* example) {
    if (!reader.has(key) && missing_.empty())
        missing_ = fmt::format("{} needs a {}; add \"{}\": {}", type, key, key, example);
    return pair(key, 1).value_or(Pair{1, 1});
}

Window WrittenLayer::window(bool pooling) {
    const Pair kernel = need_pair("kernel", pooling ? "2" : "[3, 3]");
    const Pair stride = pair("stride", 1).value_or(pooling ? kernel : Pair{1, 1});
    Window w;
    w.kernel_h = kernel.h;
    w.kernel_w = kernel.w;
    w.stride = stride.h;
    w.stride_w = stride.w;
    const Pair dilation = pair("dilation", 1).value_or(Pair{1, 1});
    w.dilation = dilation.h;
    w.dilation_w = dilation.w;
    w.ceil_mode = pooling && flag_or("ceil_mode", false);
    if (const auto result = pair("result", 1)) {
        w.out_h = result->h;
        w.out_w = result->w;
    }
    const Value* padding = reader.value("padding");
    if (padding && padding->is_string()) {
        const std::string kind = to_lower(padding->as_string());
        w.same = kind == "same";
        if (!w.same && kind != "valid")
            reader.fail("padding", "padding should be \"same\", \"valid\", a number or [height, width]");
    } else if (padding) {
        const Pair sides = pair("padding", 0).value_or(Pair{0, 0});
        w.pad_h = sides.h;
        w.pad_w = sides.w;
    }
    return w;
}

void WrittenLayer::then_activation() {
    const std::string function = text_or("activation", "linear");
    if (function == "linear" || function == "none") return;
    if (function == "softmax") return void(b.softmax(name + ".softmax"));
    const auto known = activation_from(function);
    if (known) return void(b.activation(name + "." + *known, *known));
    reader.fail("activation", fmt::format("activation \"{}\" is unknown; known: {}, softmax", function,
                                          fmt::join(activations, ", ")));
}

Status WrittenLayer::finish() {
    if (!missing_.empty()) return invalid_argument(at_place(source_, value_.at, missing_));
    if (auto s = reader.finish(); !s) return s;
    if (b.failed()) return invalid_argument(at_place(source_, value_.at, fmt::format("{}: {}", name, b.fault())));
    return ok();
}

}  // namespace dlcast
