// SPDX-License-Identifier: GPL-2.0-or-later
// The one file that sees toml++.
#include "predictor/base/toml.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <optional>

#include "predictor/base/reader.h"
#include "predictor/base/text.h"

namespace dlcast {
namespace {

constexpr std::ptrdiff_t most_dots = 500;

Position place(const toml::source_region& region) {
    return {static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}

// Nothing where a date or time stands; `where` is then its place.
std::optional<Value> convert(const toml::node& node, Position& where) {
    Value out;
    if (const auto* table = node.as_table()) {
        out = Value::object();
        for (const auto& [key, member] : *table) {
            auto value = convert(member, where);
            if (!value) return std::nullopt;
            out.as_object().push_back({std::string(key.str()), std::move(*value), place(key.source())});
        }
    } else if (const auto* array = node.as_array()) {
        out = Value::array();
        for (const auto& element : *array) {
            auto value = convert(element, where);
            if (!value) return std::nullopt;
            out.as_array().push_back(std::move(*value));
        }
    } else if (const auto* text = node.as_string()) {
        out = Value(text->get());
    } else if (const auto* integer = node.as_integer()) {
        out = Value(std::int64_t{integer->get()});
    } else if (const auto* real = node.as_floating_point()) {
        out = Value(real->get());
    } else if (const auto* boolean = node.as_boolean()) {
        out = Value(boolean->get());
    } else {
        where = place(node.source());
        return std::nullopt;
    }
    out.at = place(node.source());
    return out;
}

// Does text between commas and brackets say one number? Then its point joins no parts of a key: parts of a path stand
// together, and those in quotes, which may hold commas, show their quotes.
bool is_number(std::string_view text) {
    return std::count(text.begin(), text.end(), '.') <= 1 &&
           text.find_first_not_of("0123456789+-.eE_ \t") == std::string_view::npos;
}

// Points that may join parts of keys.
std::ptrdiff_t count_dots(std::string_view line) {
    std::ptrdiff_t out = 0;
    for (std::size_t start = 0; start < line.size();) {
        const std::size_t end = std::min(line.find_first_of(",[]", start), line.size());
        const std::string_view item = line.substr(start, end - start);
        if (!is_number(item)) out += std::count(item.begin(), item.end(), '.');
        start = end + 1;
    }
    return out;
}

// toml++ recurses once for each part of a dotted key, without a bound of its own; a real key has two or three.
Status check_key_depth(std::string_view text, const std::string& source) {
    int line = 0;
    for (const std::string& content : split(text, '\n')) {
        ++line;
        if (count_dots(content) <= most_dots) continue;
        return invalid_argument(
            at_place(source, {line, 1}, fmt::format("more than {} dots on one line; split it", most_dots)));
    }
    return ok();
}

std::string describe(const toml::parse_error& e) {
    std::string text(e.description());
    if (text.find("could not determine value type") != std::string::npos) text += "; text stands in quotes: \"text\"";
    return text;
}

}  // namespace

Result<Value> parse_toml(std::string_view text, const std::string& source) {
    if (auto s = check_key_depth(text, source); !s) return s.error();
    try {
        const toml::table table = toml::parse(text, source);
        Position where;
        if (auto value = convert(table, where)) return std::move(*value);
        return invalid_argument(at_place(source, where, "a date or time; no key here takes one"));
    } catch (const toml::parse_error& e) {
        return invalid_argument(at_place(source, place(e.source()), describe(e)));
    } catch (const std::exception& e) {
        return invalid_argument(fmt::format("{}: {}", source, e.what()));
    }
}

std::string toml_basic_string(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\')
            (out += '\\') += c;
        else if (byte < 0x20 || byte == 0x7f)
            out += fmt::format("\\u{:04X}", byte);
        else
            out += c;
    }
    return out + '"';
}

}  // namespace dlcast
