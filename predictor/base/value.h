// SPDX-License-Identifier: GPL-2.0-or-later
// One tree for JSON and TOML alike, with the place of every value, so that each message can say where.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "predictor/base/tree_memory.h"

namespace dlcast {

/// Line and column count from 1; 0 means the value came from no file. A column counts bytes.
struct Position {
    int line = 0;
    int column = 0;
};

/// Null, bool, integer, real, string, array or object. Objects keep the order of their keys; a key stands once.
class Value {
public:
    struct Member;
    using Array = std::vector<Value, TreeAllocator<Value>>;
    using Object = std::vector<Member, TreeAllocator<Member>>;

    Value() = default;
    Value(bool v) : data_(v) {}
    Value(int v) : data_(static_cast<std::int64_t>(v)) {}
    Value(std::int64_t v) : data_(v) {}
    Value(std::uint64_t v) : data_(static_cast<std::int64_t>(v)) {}
    Value(double v) : data_(v) {}
    Value(std::string v) : data_(std::move(v)) {}
    Value(std::string_view v) : data_(std::string(v)) {}
    Value(const char* v) : data_(std::string(v)) {}
    Value(std::nullptr_t) {}
    Value(Array v) : data_(std::move(v)) {}
    Value(Object v) : data_(std::move(v)) {}

    static Value object() { return Value(Object{}); }
    static Value array() { return Value(Array{}); }

    bool is_null() const { return std::holds_alternative<std::monostate>(data_); }
    bool is_bool() const { return std::holds_alternative<bool>(data_); }
    bool is_integer() const { return std::holds_alternative<std::int64_t>(data_); }
    bool is_number() const { return is_integer() || std::holds_alternative<double>(data_); }
    bool is_string() const { return std::holds_alternative<std::string>(data_); }
    bool is_array() const { return std::holds_alternative<Array>(data_); }
    bool is_object() const { return std::holds_alternative<Object>(data_); }

    // Each of these needs the kind to be right (ask first, or read through ObjectReader).
    bool as_bool() const { return std::get<bool>(data_); }
    std::int64_t as_integer() const { return std::get<std::int64_t>(data_); }
    double as_number() const { return is_integer() ? static_cast<double>(as_integer()) : std::get<double>(data_); }
    const std::string& as_string() const { return std::get<std::string>(data_); }
    const Array& as_array() const { return std::get<Array>(data_); }
    Array& as_array() { return std::get<Array>(data_); }
    const Object& as_object() const { return std::get<Object>(data_); }
    Object& as_object() { return std::get<Object>(data_); }

    /// The member named `key`; nullptr where there is none or this is no object.
    const Value* find(std::string_view key) const;
    Value* find(std::string_view key);
    /// Adds or replaces a member of an object (a null value becomes an object).
    Value& set(std::string_view key, Value value);
    /// Appends to an array (a null value becomes an array).
    Value& push(Value value);

    /// Becomes a T made of `arguments` in place: of a file of 1 MiB, moving what was made elsewhere takes a sixth of
    /// the reading.
    template <typename T, typename... Arguments>
    T& become(Arguments&&... arguments) {
        return data_.emplace<T>(std::forward<Arguments>(arguments)...);
    }

    /// "a string", "an array", ...: for messages.
    std::string_view kind_name() const;

    Position at;  // of the value itself

private:
    std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Object> data_;
};

struct Value::Member {
    std::string key;
    Value value;
    Position at;  // of the key
};

}  // namespace dlcast
