// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/overrides.h"

#include <fmt/format.h>

#include <algorithm>

#include "predictor/base/json.h"
#include "predictor/base/text.h"

namespace dlcast {
namespace {

// The object at `key` of `parent`, made where it is missing.
Value* object_at(Value& parent, const std::string& key) {
    Value* member = parent.find(key);
    if (!member) member = &parent.set(key, Value::object());
    return member->is_object() ? member : nullptr;
}

void set_training(Value& root, const char* key, Value value) {
    if (Value* training = object_at(root, "training")) training->set(key, std::move(value));
}

void drop(Value& object, const char* key) {
    std::erase_if(object.as_object(), [&](const Value::Member& member) { return member.key == key; });
}

// A duration on the command line replaces the file's, whichever of the three it was.
void set_duration(Value& root, const char* key, Value value) {
    Value* training = object_at(root, "training");
    if (!training) return;
    for (const char* other : {"epochs", "steps", "tokens"}) drop(*training, other);
    training->set(key, std::move(value));
}

Status set_dotted(Value& root, const std::string& assignment) {
    const auto equals = assignment.find('=');
    if (equals == std::string::npos || equals == 0)
        return invalid_argument(
            fmt::format("--set {}: expected dotted.key=value, as in training.grad_accum=4", assignment));
    const auto keys = split(std::string_view(assignment).substr(0, equals), '.');
    if (keys.size() > 16 || std::any_of(keys.begin(), keys.end(), [](const std::string& key) { return key.empty(); }))
        return invalid_argument(fmt::format("--set {}: an empty or too deep key", assignment));
    Value* at = &root;
    for (std::size_t i = 0; i + 1 < keys.size(); ++i) {
        Value* inner = object_at(*at, keys[i]);
        // A data set given by its name becomes an object of that name.
        if (!inner && keys[i] == "dataset") {
            Value named = Value::object();
            named.set("name", *at->find(keys[i]));
            inner = &at->set(keys[i], std::move(named));
        }
        if (!inner) return invalid_argument(fmt::format("--set {}: {} is no object here", assignment, keys[i]));
        at = inner;
    }
    const std::string text = assignment.substr(equals + 1);
    auto json = parse_json(text, "--set");
    at->set(keys.back(), json ? std::move(*json) : Value(text));
    return ok();
}

}  // namespace

Result<Value> apply_overrides(const Declaration& declaration, const WorkloadOverrides& o) {
    Value root = declaration.value;
    if (!root.is_object()) return invalid_argument(declaration.source + ": not an object");
    if (o.dataset) root.set("dataset", *o.dataset);
    if (o.batch_size) set_training(root, "batch_size", *o.batch_size);
    if (o.seq_len) set_training(root, "seq_len", *o.seq_len);
    if (o.image_size) set_training(root, "image_size", *o.image_size);
    if (o.precision) {
        static const char* const names[] = {"fp32", "tf32", "amp", "fp16", "bf16", "fp8"};
        set_training(root, "precision", names[static_cast<int>(*o.precision)]);
    }
    if (o.epochs) set_duration(root, "epochs", *o.epochs);
    if (o.steps) set_duration(root, "steps", *o.steps);
    for (const std::string& assignment : o.set)
        if (auto s = set_dotted(root, assignment); !s) return s.error();
    return root;
}

}  // namespace dlcast
