// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/base/value.h"

namespace dlcast {

const Value* Value::find(std::string_view key) const {
    if (!is_object()) return nullptr;
    // Most keys differ in length or in their first byte: sooner seen than asked of memcmp.
    for (const Member& member : as_object())
        if (member.key.size() == key.size() && (key.empty() || (member.key[0] == key[0] && member.key == key)))
            return &member.value;
    return nullptr;
}

Value* Value::find(std::string_view key) { return const_cast<Value*>(std::as_const(*this).find(key)); }

Value& Value::set(std::string_view key, Value value) {
    if (is_null()) data_ = Object{};
    if (Value* old = find(key)) return *old = std::move(value);
    as_object().push_back({std::string(key), std::move(value), {}});
    return as_object().back().value;
}

Value& Value::push(Value value) {
    if (is_null()) data_ = Array{};
    as_array().push_back(std::move(value));
    return as_array().back();
}

std::string_view Value::kind_name() const {
    if (is_null()) return "null";
    if (is_bool()) return "true or false";
    if (is_integer()) return "a whole number";
    if (is_number()) return "a number";
    if (is_string()) return "a string";
    return is_array() ? "an array" : "an object";
}

}  // namespace dlcast
