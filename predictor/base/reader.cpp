// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/base/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "predictor/base/text.h"

namespace dlcast {
namespace {

// Enough for a person; forged input must not buy a megabyte of messages.
constexpr std::size_t most_faults = 32;

// The nearest name, or the same name with a unit ("max_time" for max_time_min).
std::string nearest_key(const std::string& key, const std::vector<std::string>& known) {
    const auto same = std::find_if(known.begin(), known.end(), [&](const auto& k) { return k.starts_with(key + "_"); });
    return same != known.end() ? *same : nearest_name(key, known);
}

// What stands there, for messages: a string, a number or a truth value itself, of anything else its kind.
std::string shown(const Value& value) {
    constexpr std::size_t longest = 60;
    if (value.is_string()) return fmt::format("\"{}\"", one_line(value.as_string(), longest));
    if (value.is_integer()) return fmt::format("{}", value.as_integer());
    if (value.is_number()) return fmt::format("{}", value.as_number());
    if (value.is_bool()) return value.as_bool() ? "true" : "false";
    return std::string(value.kind_name());
}

}  // namespace

std::string at_place(const std::string& source, Position at, const std::string& text) {
    // Names and keys come from the file: none of them may begin a line of its own in a log.
    constexpr std::size_t longest_message = 2000;
    const std::string line = one_line(text, longest_message);
    if (at.line == 0) return fmt::format("{}: {}", source, line);
    return fmt::format("{}:{}:{}: {}", source, at.line, at.column, line);
}

ObjectReader::ObjectReader(const Value& value, std::string source, std::string what)
    : object_(value), source_(std::move(source)), what_(std::move(what)) {
    constexpr std::size_t usual_keys = 24;
    known_.reserve(usual_keys);
    if (!value.is_object())
        faults_.push_back(
            at_place(source_, value.at, fmt::format("{} is {}; it should be an object", what_, value.kind_name())));
}

const Value* ObjectReader::value(std::string_view key) {
    known_.emplace_back(key);
    return object_.find(key);
}

bool ObjectReader::has(std::string_view key) { return value(key) != nullptr; }

void ObjectReader::fail(std::string_view key, const std::string& text) {
    if (!object_.is_object() || faults_.size() >= most_faults) return;
    const Value* value = object_.find(key);
    faults_.push_back(at_place(source_, value ? value->at : object_.at, fmt::format("{}: {}", what_, text)));
}

std::optional<std::int64_t> ObjectReader::integer(std::string_view key, std::int64_t min, std::int64_t max) {
    const Value* v = value(key);
    if (!v) return std::nullopt;
    std::int64_t number = 0;
    if (v->is_integer()) {
        number = v->as_integer();
    } else if (v->is_number() && std::floor(v->as_number()) == v->as_number() && std::abs(v->as_number()) < 9e15) {
        number = static_cast<std::int64_t>(v->as_number());  // 224.0, as some exporters write
    } else {
        fail(key, fmt::format("{} is {}; it should be a whole number", key, shown(*v)));
        return std::nullopt;
    }
    if (number < min || number > max) {
        fail(key, fmt::format("{} is {}; it should be from {} to {}", key, number, min, max));
        return std::nullopt;
    }
    return number;
}

std::optional<double> ObjectReader::number(std::string_view key, double min, double max) {
    const Value* v = value(key);
    if (!v) return std::nullopt;
    if (!v->is_number()) {
        fail(key, fmt::format("{} is {}; it should be a number", key, shown(*v)));
        return std::nullopt;
    }
    const double number = v->as_number();
    if (!(number >= min && number <= max)) {
        fail(key, fmt::format("{} is {}; it should be from {} to {}", key, number, min, max));
        return std::nullopt;
    }
    return number;
}

std::optional<bool> ObjectReader::boolean(std::string_view key) {
    const Value* v = value(key);
    if (!v) return std::nullopt;
    if (v->is_bool()) return v->as_bool();
    if (v->is_integer() && (v->as_integer() == 0 || v->as_integer() == 1)) return v->as_integer() == 1;
    fail(key, fmt::format("{} is {}; it should be true or false", key, shown(*v)));
    return std::nullopt;
}

std::optional<std::string> ObjectReader::string(std::string_view key) {
    const Value* v = value(key);
    if (!v) return std::nullopt;
    if (v->is_string()) return v->as_string();
    fail(key, fmt::format("{} is {}; it should be a string", key, shown(*v)));
    return std::nullopt;
}

std::optional<std::size_t> ObjectReader::choice(std::string_view key, const std::vector<std::string>& names) {
    const Value* v = value(key);
    if (!v) return std::nullopt;
    if (!v->is_string()) {
        fail(key, fmt::format("{} is {}; it should be one of {}", key, shown(*v), fmt::join(names, ", ")));
        return std::nullopt;
    }
    const std::string* text = &v->as_string();
    const auto found = std::find(names.begin(), names.end(), to_lower(*text));
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
    fail(key, fmt::format("{} is \"{}\"; it should be one of {}", key, *text, fmt::join(names, ", ")));
    return std::nullopt;
}

std::optional<std::vector<std::int64_t>> ObjectReader::integers(std::string_view key, std::int64_t min,
                                                                std::int64_t max) {
    const Value* v = value(key);
    if (!v) return std::nullopt;
    std::vector<std::int64_t> out;
    bool good = v->is_array();
    if (good)
        for (const Value& element : v->as_array()) {
            good = good && element.is_integer() && element.as_integer() >= min && element.as_integer() <= max;
            if (good) out.push_back(element.as_integer());
        }
    if (good) return out;
    fail(key, fmt::format("{} should be an array of whole numbers from {} to {}", key, min, max));
    return std::nullopt;
}

std::optional<std::vector<std::string>> ObjectReader::strings(std::string_view key) {
    const Value* v = value(key);
    if (!v) return std::nullopt;
    std::vector<std::string> out;
    bool good = v->is_array();
    if (good)
        for (const Value& element : v->as_array()) {
            good = good && element.is_string();
            if (good) out.push_back(element.as_string());
        }
    if (good) return out;
    fail(key, fmt::format("{} should be an array of strings", key));
    return std::nullopt;
}

void ObjectReader::require(std::string_view key, const std::string& remedy) {
    if (!has(key)) fail(key, fmt::format("needs \"{}\"; {}", key, remedy));
}

Status ObjectReader::finish() {
    if (object_.is_object()) {
        for (const Value::Member& member : object_.as_object()) {
            if (faults_.size() >= most_faults) break;
            if (std::find(known_.begin(), known_.end(), member.key) != known_.end()) continue;
            std::sort(known_.begin(), known_.end());
            known_.erase(std::unique(known_.begin(), known_.end()), known_.end());
            const std::string near = nearest_key(member.key, known_);
            const std::string hint = near.empty() ? fmt::format("known keys: {}", fmt::join(known_, ", "))
                                                  : fmt::format("did you mean \"{}\"?", near);
            faults_.push_back(
                at_place(source_, member.at, fmt::format("{}: unknown key \"{}\"; {}", what_, member.key, hint)));
        }
    }
    if (failed()) return invalid_argument(faults_.front());
    return ok();
}

}  // namespace dlcast
