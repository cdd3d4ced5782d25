// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/layer_list.h"

#include <fmt/format.h>

#include "predictor/base/reader.h"
#include "predictor/base/text.h"

namespace dlcast {
namespace {

// Keys repeat what follows from the layers before (matsize, output_size, channels_in): read, and left to inference.
Result<Value> convert(const Value& layer, const std::string& source, const std::string& number) {
    ObjectReader r(layer, source, "layer " + number);
    for (const char* key : {"matsize", "output_size", "channels_in"}) r.value(key);
    r.require("type", "add \"type\": \"Convolution\"");
    const std::string type = to_lower(r.string("type").value_or(""));
    Value made = Value::object();
    made.as_object().reserve(8);
    made.at = layer.at;
    const auto place_type = [&](const char* name) { made.set("type", name).at = layer.at; };
    const auto copy = [&](const char* from, const char* to) {
        if (const auto size = r.integer(from, 1, 1'000'000'000)) made.set(to, *size);
    };
    const bool pool = type.find("pool") != std::string::npos;
    if (type.starts_with("conv")) {
        place_type("conv2d");
        copy("channels_out", "out");
        copy("kernelsize", "kernel");
    } else if (pool) {
        place_type(type.starts_with("av") ? "avg_pool" : "max_pool");
        copy("pool_size", "kernel");
        r.value("channels_out");
    } else if (type.starts_with("fully") || type.starts_with("dense") || type == "fc") {
        place_type("linear");
        copy("channels_out", "out");
        copy("dim_output", "out");
        r.value("dim_input");
    } else if (!r.failed()) {
        r.fail("type", fmt::format("unknown type \"{}\"; known: Convolution, Max_pool, Avg_pool, Fully_connected",
                                   type.substr(0, 80)));
    }
    if (const auto stride = r.integer("strides", 1, 1'000'000)) made.set("stride", *stride);
    if (to_lower(r.string("padding").value_or("")) == "same") made.set("padding", "same");
    if (const auto bias = r.boolean("use_bias"); bias && !*bias) made.set("bias", false);
    if (const auto activation = r.string("activation"); activation && !activation->empty())
        made.set("activation", to_lower(*activation));
    if (const auto name = r.string("name")) made.set("name", *name);
    if (auto s = r.finish(); !s) return s.error();
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
    made.as_array().reserve(numbered.size());
    for (std::size_t i = 1; i <= numbered.size(); ++i) {
        Value* layer = numbered[i - 1];
        if (!layer)
            return invalid_argument(
                at_place(source, layers.at, fmt::format("no layer \"{}\"; layers are numbered from 1", i)));
        auto one = convert(*layer, source, std::to_string(i));
        if (!one) return one.error();
        made.push(std::move(*one));
        *layer = Value();  // the next one is made where this one was
    }
    Value out = Value::object();
    out.at = tree.at;
    out.set("input", Value(Value::Array{channels, size, size}));
    out.set("layers", std::move(made));
    return out;
}

}  // namespace dlcast
