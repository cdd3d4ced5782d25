// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/keras_call.h"

#include <fmt/format.h>

#include <algorithm>

#include "predictor/base/json.h"
#include "predictor/base/reader.h"
#include "predictor/base/text.h"
#include "predictor/model/written_layer.h"

namespace dlcast {
namespace {

constexpr std::int64_t most_size = 1'000'000'000;
constexpr std::size_t longest_shown = 80;

// A value as it stands in the file, for messages.
std::string shown(const Value& value) {
    if (value.is_string()) return fmt::format("\"{}\"", one_line(value.as_string(), longest_shown));
    const auto text = write_json_within(value, longest_shown);
    return text ? *text : std::string(value.kind_name());
}

Value array_of(const KerasShape& shape) {
    Value out = Value::array();
    for (const std::int64_t size : shape) out.push(size);
    return out;
}

}  // namespace

double elements(const KerasShape& shape) {
    double product = 1.0;
    for (const std::int64_t size : shape) product *= static_cast<double>(size);
    return product;
}

std::string to_string(const KerasShape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

KerasShape KerasOutput::ours(const KerasShape& theirs) const {
    if (theirs.size() != 3 || channels_first) return theirs;
    return {theirs[2], theirs[0], theirs[1]};
}

std::string KerasOutput::unique(std::string name) {
    while (!names.insert(name).second) name += "'";
    return name;
}

Error KerasOutput::fault(const Value& at, const std::string& text) const {
    return invalid_argument(at_place(source, at.at, text));
}

void KerasCall::fail_at(const Value& at, const std::string& text) {
    if (!fault_)
        fault_ = out.fault(
            at, fmt::format("{} \"{}\": {}", one_line(kind, longest_shown), one_line(name, longest_shown), text));
}

void KerasCall::fail_key(const char* key, const std::string& text) {
    const Value* v = value(key);
    fail_at(v && v->at.line > 0 ? *v : layer_, v ? fmt::format("{} is {}; {}", key, shown(*v), text) : text);
}

const Value* KerasCall::value(const char* key) const {
    const Value* v = config->find(key);
    return v && !v->is_null() ? v : nullptr;
}

std::int64_t KerasCall::size(const char* key) {
    if (value(key)) return size_or(key, 1);
    fail(fmt::format("needs \"{}\"; add it to its config", key));
    return 1;
}

std::int64_t KerasCall::size_or(const char* key, std::int64_t standard) {
    const Value* v = value(key);
    if (!v) return standard;
    if (v->is_integer() && v->as_integer() >= 1 && v->as_integer() <= most_size) return v->as_integer();
    fail_key(key, fmt::format("it should be a whole number from 1 to {}", most_size));
    return standard;
}

KerasShape KerasCall::sides(const char* key, std::size_t count, std::int64_t standard) {
    const Value* v = value(key);
    if (!v) return KerasShape::filled(count, standard);
    KerasShape sizes;
    const auto take = [&](const Value& one) {
        const bool good = one.is_integer() && one.as_integer() >= 1 && one.as_integer() <= most_size;
        sizes.push_back(good ? one.as_integer() : 0);
    };
    if (v->is_array())
        for (const Value& one : v->as_array()) take(one);
    else
        take(*v);
    if (!v->is_array()) sizes = KerasShape::filled(count, sizes[0]);
    if (sizes.size() == count && std::find(sizes.begin(), sizes.end(), 0) == sizes.end()) return sizes;
    fail_key(key, fmt::format("it should be a whole number from 1 to {}{}", most_size,
                              count == 2 ? ", or [height, width]" : ""));
    return KerasShape::filled(count, 1);
}

bool KerasCall::flag(const char* key, bool standard) {
    const Value* v = value(key);
    if (!v) return standard;
    if (v->is_bool()) return v->as_bool();
    if (v->is_integer() && (v->as_integer() == 0 || v->as_integer() == 1)) return v->as_integer() == 1;
    fail_key(key, "it should be true or false");
    return standard;
}

std::string KerasCall::text(const char* key, const char* standard) const {
    const Value* v = value(key);
    return v && v->is_string() ? v->as_string() : standard;
}

std::optional<std::vector<std::size_t>> KerasCall::axes(const char* key, std::int64_t standard, std::size_t rank) {
    std::vector<std::size_t> found;
    const auto with_batch = static_cast<std::int64_t>(rank) + 1;
    const auto take = [&](const Value& one) {
        const std::int64_t axis = !one.is_integer() ? 0
                                  : one.as_integer() < 0 && one.as_integer() >= -with_batch
                                      ? one.as_integer() + with_batch
                                      : one.as_integer();
        if (axis < 1 || axis >= with_batch) return false;
        found.push_back(static_cast<std::size_t>(axis) - 1);
        return true;
    };
    const Value* v = value(key);
    const Value one = v ? *v : Value(standard);
    bool good = true;
    if (one.is_array())
        for (const Value& axis : one.as_array()) good = good && take(axis);
    else
        good = take(one);
    if (good && !found.empty()) return found;
    fail_key(key, fmt::format("an axis of its input should be from 1 to {} (0 is the batch), or counted from the end",
                              rank));
    return std::nullopt;
}

bool KerasCall::needs_rank(std::size_t rank, const char* what) {
    if (shape().size() != rank)
        fail(fmt::format("needs {}; its input has shape {} behind the batch", what, to_string(shape())));
    return !failed();
}

void KerasCall::read(const KerasTensor& tensor) { source_ = {tensor.name, out.ours(tensor.shape)}; }

Value& KerasCall::put(const char* type, const KerasShape& seen, const KerasShape& result, std::string_view part) {
    const bool fits = elements(result) <= 1e15 && elements(seen) <= 1e15 &&
                      std::all_of(result.begin(), result.end(), [](std::int64_t size) { return size >= 1; });
    if (!fits && !failed())
        fail(fmt::format("leaves shape {} (channels first) of an input {}; correct its sizes", to_string(result),
                         to_string(seen)));
    if (failed()) return discarded_ = Value::object();
    Value made = Value::object();
    made.as_object().reserve(8);
    made.at = layer_.at;
    made.set("type", type).at = layer_.at;
    if (seen != source_.shape)
        made.set("at", array_of(seen));
    else if (source_.name != out.previous)
        made.set("from", source_.name).at = layer_.at;
    // The name of the layer goes to what it writes first; parts have their own.
    source_ = {out.unique(name + std::string(part)), result};
    made.set("name", source_.name);
    out.previous = source_.name;
    return out.layers.push(std::move(made));
}

Value& KerasCall::put_at(const char* type, const KerasShape& seen, std::string_view part) {
    Value& layer = put(type, seen, seen, part);
    if (failed()) return layer;
    std::erase_if(layer.as_object(), [](const Value::Member& m) { return m.key == "from"; });
    layer.set("at", array_of(seen));
    return layer;
}

Value& KerasCall::put_learned(const char* type, const KerasShape& seen, const KerasShape& result,
                              std::string_view part) {
    Value& layer = put(type, seen, result, part);
    if (frozen) layer.set("trainable", false);
    if (tied) layer.set("tied", true);
    return layer;
}

void KerasCall::put_lora_sum(const KerasShape& result, std::int64_t bias) {
    Value& sum = put_at("add", result, ".lora_add");
    if (bias > 0) sum.set("parameters", bias);
    if (frozen) sum.set("trainable", false);
    if (tied) sum.set("tied", true);
}

void KerasCall::put_join(const char* type, const std::vector<KerasTensor>& tensors, const KerasShape& result) {
    read(tensors.front());
    Value& made = put(type, source_.shape, result);
    if (failed()) return;
    Value from = Value::array();
    for (const KerasTensor& tensor : tensors) from.push(tensor.name).at = layer_.at;
    made.set("from", std::move(from)).at = layer_.at;
}

void KerasCall::leave(const KerasShape& theirs) {
    const KerasShape ours = out.ours(theirs);
    if (!failed() && ours != source_.shape) {
        Value& made = put("reshape", source_.shape, ours, ".shape");
        made.set("shape", array_of(ours));
    }
    left.push_back({source_.name, theirs});
}

std::optional<std::string> keras_activation(const Value& activation) {
    static constexpr std::pair<std::string_view, const char*> same[] = {
        {"linear", "linear"},       {"softmax", "softmax"},     {"log_softmax", "softmax"},  {"celu", "elu"},
        {"softsign", "tanh"},       {"exponential", "tanh"},    {"hard_silu", "hard_swish"}, {"hard_tanh", "tanh"},
        {"log_sigmoid", "sigmoid"}, {"tanh_shrink", "tanh"},    {"soft_shrink", "relu"},     {"hard_shrink", "relu"},
        {"threshold", "relu"},      {"squareplus", "softplus"}, {"sparse_plus", "softplus"}};
    const Value* text = &activation;
    // An object: a function by its name, or a layer as its class.
    if (activation.is_object()) {
        text = activation.find("config");
        if (!text || !text->is_string()) text = activation.find("class_name");
    }
    if (!text || !text->is_string()) return std::nullopt;
    const std::string name = to_lower(text->as_string());
    for (const auto& [theirs, ours] : same)
        if (name == theirs) return ours;
    return activation_from(name);
}

void KerasCall::set_activation(Value& layer) {
    const Value* activation = value("activation");
    if (!activation) return;
    const auto known = keras_activation(*activation);
    if (!known)
        return fail_key("activation",
                        "no such function is known; describe the network with dlcast's own layers, or name a like one "
                        "(relu, gelu, silu, tanh, sigmoid, softmax)");
    if (*known != "linear") layer.set("activation", *known);
}

}  // namespace dlcast
