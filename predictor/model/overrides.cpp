// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/overrides.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

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

// A place in the text of an option is none in the file that messages name.
void forget_places(Value& value) {
    value.at = {};
    if (value.is_array())
        for (Value& element : value.as_array()) forget_places(element);
    if (value.is_object())
        for (Value::Member& member : value.as_object()) {
            member.at = {};
            forget_places(member.value);
        }
}

constexpr std::array<const char*, 3> durations{"epochs", "steps", "tokens"};

// An option of its own and an assignment of the same member, or of another duration.
Status check_said_once(const WorkloadOverrides& o) {
    const std::pair<const char*, bool> options[] = {
        {"batch_size", o.batch_size.has_value()}, {"grad_accum", o.grad_accum.has_value()},
        {"steps", o.steps.has_value()},           {"seq_len", o.seq_len.has_value()},
        {"image_size", o.image_size.has_value()}, {"epochs", o.epochs.has_value()},
        {"tokens", o.tokens.has_value()},         {"precision", o.precision.has_value()},
        {"optimizer", o.optimizer.has_value()},   {"dataset", o.dataset.has_value()}};
    const auto is_duration = [](std::string_view key) {
        return std::find(durations.begin(), durations.end(), key) != durations.end();
    };
    for (std::size_t i = 0; i < o.set.size(); ++i) {
        const auto key = std::string_view(o.set[i]).substr(0, o.set[i].find('='));
        for (const auto& [name, is_given] : options) {
            const std::string_view member = name, training = "training.";
            const bool of_training = key.starts_with(training);
            if (!is_given || of_training == (member == "dataset")) continue;
            const auto set = of_training ? key.substr(training.size()) : key;
            if (set != member && !(is_duration(set) && is_duration(member))) continue;
            std::string option = "--" + std::string(member);
            std::replace(option.begin(), option.end(), '_', '-');
            return invalid_argument(
                fmt::format("{} and {} both say it; keep one of them", option, one_line(option_text(o, i), 200)));
        }
    }
    return ok();
}

bool sets_training(const WorkloadOverrides& o, const std::string& key) {
    return std::any_of(o.set.begin(), o.set.end(),
                       [&](const std::string& set) { return set.starts_with("training." + key + "="); });
}

bool sets_duration(const WorkloadOverrides& o) {
    return o.epochs || o.steps || o.tokens ||
           std::any_of(durations.begin(), durations.end(), [&](const char* key) { return sets_training(o, key); });
}

// What the command line says in place of a member of the file that says the same in other words.
void drop_replaced(Value& training, const WorkloadOverrides& o) {
    if (sets_duration(o))
        for (const char* key : durations) drop(training, key);
    if (o.grad_accum || sets_training(o, "grad_accum")) drop(training, "micro_batch");
    if (sets_training(o, "micro_batch")) drop(training, "grad_accum");
}

// What stands before the first point. A file with any other key is refused, so a misspelt one is here too.
Status check_root_key(const std::string& option, const std::string& assignment, const std::string& key, bool alone) {
    static const std::vector<std::string> known = {"model", "dataset", "training"};
    if (std::find(known.begin(), known.end(), key) != known.end()) return ok();
    const std::string near = nearest_name(key, known);
    const std::string remedy = alone && near.empty()
                                   ? fmt::format("write training.{0}=, dataset.{0}= or model.{0}=", key)
                               : near.empty() ? std::string("keys start with training., dataset. or model.")
                                              : fmt::format("did you mean \"{}\"?", near);
    return invalid_argument(fmt::format("{} {}: unknown key \"{}\"; {}", option, assignment, key, remedy));
}

Status set_dotted(Value& root, const std::string& option, const std::string& assignment) {
    const auto equals = assignment.find('=');
    if (equals == std::string::npos || equals == 0)
        return invalid_argument(
            fmt::format("{} {}: expected dotted.key=value, as in training.grad_accum=4", option, assignment));
    const auto keys = split(std::string_view(assignment).substr(0, equals), '.');
    if (keys.size() > 16 || std::any_of(keys.begin(), keys.end(), [](const std::string& key) { return key.empty(); }))
        return invalid_argument(fmt::format("{} {}: an empty or too deep key", option, assignment));
    if (auto s = check_root_key(option, assignment, keys.front(), keys.size() == 1); !s) return s;
    Value* at = &root;
    for (std::size_t i = 0; i + 1 < keys.size(); ++i) {
        Value* inner = object_at(*at, keys[i]);
        // A data set given by its name becomes an object of that name.
        if (!inner && keys[i] == "dataset") {
            Value named = Value::object();
            named.set("name", *at->find(keys[i]));
            inner = &at->set(keys[i], std::move(named));
        }
        if (!inner) return invalid_argument(fmt::format("{} {}: {} is no object here", option, assignment, keys[i]));
        at = inner;
    }
    const std::string text = assignment.substr(equals + 1);
    auto json = parse_json(text, option);
    if (json) forget_places(*json);
    at->set(keys.back(), json ? std::move(*json) : Value(text));
    return ok();
}

// Of "key = value", without the spaces around it.
std::string key_of(std::string_view assignment) {
    return std::string(trim(assignment.substr(0, assignment.find('='))));
}

// Parts of "epochs=90,trainable=lora:r=16,targets=q+v,batch_size=8": a value of "trainable" may hold commas itself.
std::vector<std::string> split_assignments(const std::string& all) {
    std::vector<std::string> out;
    for (const std::string& written : split(all, ',')) {
        const std::string_view part = trim(written);
        const bool goes_on =
            part.find('=') == std::string_view::npos || part.starts_with("targets=") || part.starts_with("r=");
        if (!out.empty() && goes_on && key_of(out.back()) == "trainable")
            out.back().append(",").append(part);
        else
            out.push_back(written);
    }
    return out;
}

}  // namespace

std::string option_text(const WorkloadOverrides& o, std::size_t index) {
    const std::string& assignment = o.set[index];
    if (index >= o.from_train) return "--set " + assignment;
    const std::string_view training = "training.";
    return "--train " + (assignment.starts_with(training) ? assignment.substr(training.size()) : assignment);
}

Result<std::vector<std::string>> training_assignments(const std::string& text, const std::string& option) {
    constexpr std::size_t longest = 4096;
    if (text.size() > longest)
        return invalid_argument(
            fmt::format("{}: more than {} bytes; write the training into the model file", option, longest));
    if (trim(text).empty())
        return invalid_argument(
            fmt::format("{} is empty; write key=value, as in epochs=90,batch_size=256, or leave it out", option));
    std::vector<std::string> out, members;
    std::set<std::string> keys;
    for (const std::string& assignment : split_assignments(text)) {
        if (trim(assignment).empty())
            return invalid_argument(
                fmt::format("{} \"{}\": nothing between two commas; take one out", option, one_line(text, 200)));
        const auto equals = assignment.find('=');
        if (equals == std::string::npos || equals == 0)
            return invalid_argument(fmt::format("{} {}: expected key=value, as in epochs=90,batch_size=256", option,
                                                one_line(assignment, 200)));
        const std::string key = key_of(assignment);
        if (trim(std::string_view(assignment).substr(equals + 1)).empty())
            return invalid_argument(fmt::format("{}: {} has no value; write {}=VALUE or leave it out", option,
                                                one_line(key, 80), one_line(key, 80)));
        if (key.starts_with("training."))
            return invalid_argument(
                fmt::format("{}: {} is written without \"training.\" here", option, one_line(key, 80)));
        if (!keys.insert(key).second)
            return invalid_argument(
                fmt::format("{}: key \"{}\" stands twice; keep one of them", option, one_line(key, 80)));
        const bool of_data = key == "dataset" || key.starts_with("dataset.");
        // A data set's name before what is said of it, whichever was written first.
        auto& its = key.find('.') == std::string::npos ? out : members;
        its.push_back((of_data ? "" : "training.") + key + "=" + std::string(trim(assignment.substr(equals + 1))));
    }
    out.insert(out.end(), members.begin(), members.end());
    return out;
}

WorkloadOverrides overrides_of(const std::string& text, const std::string& option) {
    WorkloadOverrides out;
    if (auto assignments = training_assignments(text, option)) out.set = std::move(*assignments);
    return out;
}

Result<Declaration> with_training(const Declaration& declaration, const std::string& text, const std::string& option) {
    auto assignments = training_assignments(text, option);
    if (!assignments) return assignments.error();
    WorkloadOverrides overrides;
    overrides.set = std::move(*assignments);
    auto value = apply_overrides(declaration, overrides, option);
    if (!value) return value.error();
    return Declaration{std::move(*value), declaration.source, declaration.other_sources};
}

Error blame_training(const Declaration& plain, const std::string& text, const std::string& option, Error error) {
    if (to_workload(plain)) error.message = fmt::format("{} {}: {}", option, one_line(text, 200), error.message);
    return error;
}

Result<Value> apply_overrides(const Declaration& declaration, const WorkloadOverrides& o, const std::string& option) {
    if (auto s = check_said_once(o); !s) return s.error();
    Value root = declaration.value;
    if (!root.is_object()) return invalid_argument(declaration.source + ": not an object");
    if (Value* training = root.find("training"); training && training->is_object()) drop_replaced(*training, o);
    if (o.dataset) root.set("dataset", *o.dataset);
    if (o.batch_size) set_training(root, "batch_size", *o.batch_size);
    if (o.seq_len) set_training(root, "seq_len", *o.seq_len);
    if (o.image_size) set_training(root, "image_size", *o.image_size);
    if (o.precision) {
        static const char* const names[] = {"fp32", "tf32", "amp", "fp16", "bf16", "fp8"};
        set_training(root, "precision", names[static_cast<int>(*o.precision)]);
    }
    if (o.optimizer) set_training(root, "optimizer", *o.optimizer);
    if (o.grad_accum) set_training(root, "grad_accum", *o.grad_accum);
    if (o.epochs) set_training(root, "epochs", *o.epochs);
    if (o.steps) set_training(root, "steps", *o.steps);
    if (o.tokens) set_training(root, "tokens", *o.tokens);
    for (const std::string& assignment : o.set)
        if (auto s = set_dotted(root, option, assignment); !s) return s.error();
    return root;
}

}  // namespace dlcast
