// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/layer_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "predictor/base/reader.h"
#include "predictor/base/text.h"

namespace dlcast {
namespace {

struct NumberedLayer {
    std::string type;  // lower-case letters and digits
    std::optional<std::int64_t> channels_out, kernel, pool, width, stride;
    std::string padding, activation;  // in lower case
    bool bias = true;
    std::optional<std::string> name;
};

// Types in lower case without what joins their words: Max_pool, MaxPooling2D.
bool is_one_of(const std::string& type, std::initializer_list<std::string_view> known) {
    return std::find(known.begin(), known.end(), type) != known.end();
}
bool is_convolution(const std::string& type) {
    return is_one_of(type, {"convolution", "conv", "conv2d", "convolution2d"});
}
bool is_max_pooling(const std::string& type) {
    return is_one_of(type, {"maxpool", "maxpooling", "maxpool2d", "maxpooling2d"});
}
bool is_pooling(const std::string& type) {
    return is_max_pooling(type) || is_one_of(type, {"avgpool", "avgpooling", "avgpool2d", "avgpooling2d", "averagepool",
                                                    "averagepooling", "averagepooling2d"});
}
bool is_linear(const std::string& type) { return is_one_of(type, {"fullyconnected", "dense", "fc", "linear"}); }

bool is_padding(const std::string& padding) { return padding == "same" || padding == "valid"; }

// Keys repeat what follows from the layers before (matsize, output_size, channels_in): read, and left to inference.
Result<NumberedLayer> read_layer(const Value& layer, const std::string& source, std::size_t number) {
    ObjectReader r(layer, source, fmt::format("layer {}", number));
    for (const char* key : {"matsize", "output_size", "channels_in"}) r.value(key);
    r.require("type", "add \"type\": \"Convolution\"");
    NumberedLayer out;
    const std::string type = r.string("type").value_or("");
    out.type = squeeze(type);
    const auto size = [&](const char* key) { return r.integer(key, 1, 1'000'000'000); };
    if (is_convolution(out.type)) {
        out.channels_out = size("channels_out");
        out.kernel = size("kernelsize");
    } else if (is_pooling(out.type)) {
        out.pool = size("pool_size");
        r.value("channels_out");
    } else if (is_linear(out.type)) {
        out.channels_out = size("channels_out");
        out.width = size("dim_output");
        r.value("dim_input");
    } else if (!r.failed()) {
        r.fail("type", fmt::format("unknown type \"{}\"; known: Convolution, Max_pool, Avg_pool, Fully_connected",
                                   one_line(type, 80)));
    }
    out.stride = r.integer("strides", 1, 1'000'000);
    if (const auto padding = r.string("padding")) {
        out.padding = to_lower(*padding);
        if (!is_padding(out.padding))
            r.fail("padding",
                   fmt::format("padding is \"{}\"; it should be \"SAME\" or \"VALID\"", one_line(*padding, 80)));
    }
    out.bias = r.boolean("use_bias").value_or(true);
    out.activation = to_lower(r.string("activation").value_or(""));
    out.name = r.string("name");
    if (auto s = r.finish(); !s) return s.error();
    return out;
}

// What read_layer reads of a layer without a fault, in one pass: thousands of them may stand in a file while sbatch
// waits. Nothing where it has to look closer.
std::optional<NumberedLayer> read_plain(const Value& layer) {
    if (!layer.is_object()) return std::nullopt;
    NumberedLayer out;
    const Value* channels_out = nullptr;
    for (const auto& [key, value, at] : layer.as_object()) {
        const auto size = [&value = value](std::optional<std::int64_t>& to) {
            if (value.is_integer() && value.as_integer() >= 1 && value.as_integer() <= 1'000'000)
                to = value.as_integer();
            return to.has_value();
        };
        const auto text = [&value = value](std::string& to) {
            if (value.is_string()) to = to_lower(value.as_string());
            return value.is_string();
        };
        bool good = true;
        if (key == "type") {
            if ((good = value.is_string())) out.type = squeeze(value.as_string());
        } else if (key == "name") {
            if ((good = value.is_string())) out.name = value.as_string();
        } else if (key == "channels_out") {
            channels_out = &value;
            good = size(out.channels_out);
        } else if (key == "kernelsize") {
            good = size(out.kernel);
        } else if (key == "pool_size") {
            good = size(out.pool);
        } else if (key == "strides") {
            good = size(out.stride);
        } else if (key == "padding") {
            good = text(out.padding) && is_padding(out.padding);
        } else if (key == "activation") {
            good = text(out.activation);
        } else if (key == "use_bias") {
            const bool number = value.is_integer() && (value.as_integer() == 0 || value.as_integer() == 1);
            good = value.is_bool() || number;
            if (good) out.bias = value.is_bool() ? value.as_bool() : value.as_integer() == 1;
        } else {
            good = key == "matsize" || key == "output_size" || key == "channels_in";
        }
        if (!good) return std::nullopt;
    }
    if (is_convolution(out.type)) return out.pool ? std::nullopt : std::optional(std::move(out));
    if (!is_pooling(out.type) || out.kernel) return std::nullopt;
    if (channels_out) out.channels_out.reset();
    return out;
}

Value written(const NumberedLayer& layer, Position at) {
    Value made = Value::object();
    Value::Object& members = made.as_object();
    members.reserve(8);
    made.at = at;
    const auto put = [&](const char* key, Value value) -> Value::Member& {
        return members.emplace_back(Value::Member{key, std::move(value), {}});
    };
    const char* const type = is_convolution(layer.type)   ? "conv2d"
                             : is_linear(layer.type)      ? "linear"
                             : is_max_pooling(layer.type) ? "max_pool"
                                                          : "avg_pool";
    put("type", type).value.at = at;
    if (const auto out = layer.width ? layer.width : layer.channels_out) put("out", *out);
    if (const auto kernel = layer.pool ? layer.pool : layer.kernel) put("kernel", *kernel);
    if (layer.stride) put("stride", *layer.stride);
    if (layer.padding == "same") put("padding", "same");
    if (!layer.bias) put("bias", false);
    if (!layer.activation.empty()) put("activation", layer.activation);
    if (layer.name) put("name", *layer.name);
    return made;
}

Value flattened(Position at) {
    Value made = Value::object();
    made.at = at;
    made.set("type", "flatten").at = at;
    return made;
}

// The layers "1", "2", .. in that order, which need not be the file's; nullptr where a number is missing.
std::vector<Value*> by_number(Value::Object& layers) {
    std::vector<Value*> numbered(layers.size(), nullptr);
    for (Value::Member& member : layers) {
        const auto number = member.key.starts_with('0') ? std::nullopt : parse_integer(member.key);
        if (number && *number <= static_cast<std::int64_t>(numbered.size()))
            numbered[static_cast<std::size_t>(*number) - 1] = &member.value;
    }
    return numbered;
}

}  // namespace

bool is_layer_list(const Value& tree) {
    const Value *layers = tree.find("layers"), *input = tree.find("input");
    return layers && layers->is_object() && input && input->is_object();
}

Result<Value> layer_list_to_written(Value tree, const std::string& source) {
    ObjectReader r(*tree.find("input"), source, "input");
    const std::int64_t channels = r.integer("dimension", 1, 1'000'000).value_or(3);
    r.require("size", "add the image's size in pixels");
    const std::int64_t size = r.integer("size", 1, 1'000'000).value_or(1);
    if (auto s = r.finish(); !s) return s.error();
    Value& layers = *tree.find("layers");
    const std::vector<Value*> numbered = by_number(layers.as_object());
    Value made = Value::array();
    made.as_array().reserve(numbered.size() + 1);
    bool image = true;
    for (std::size_t i = 1; i <= numbered.size(); ++i) {
        Value* layer = numbered[i - 1];
        if (!layer)
            return invalid_argument(
                at_place(source, layers.at, fmt::format("no layer \"{}\"; layers are numbered from 1", i)));
        auto plain = read_plain(*layer);
        auto one = plain ? Result<NumberedLayer>(std::move(*plain)) : read_layer(*layer, source, i);
        if (!one) return one.error();
        // Behind an image its input is the whole image (dim_input says as much).
        if (is_linear(one->type) && image) made.push(flattened(layer->at));
        image = !is_linear(one->type);
        made.push(written(*one, layer->at));
        *layer = Value();  // the next one is made where this one was
    }
    Value out = Value::object();
    out.at = tree.at;
    out.set("input", Value(Value::Array{channels, size, size}));
    out.set("layers", std::move(made));
    return out;
}

}  // namespace dlcast
