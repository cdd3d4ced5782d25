// SPDX-License-Identifier: GPL-2.0-or-later
// The one file that sees nlohmann-json. Its SAX parser keeps no recursion and builds nothing itself, so that depth and
// counts are bounded here, before memory is spent.
#include "predictor/base/json.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "predictor/base/reader.h"

namespace dlcast {
namespace {

using nlohmann::json;

class TreeBuilder : public json::json_sax_t {
public:
    TreeBuilder(std::string_view text, const std::string& source, const JsonLimits& limits)
        : text_(text), source_(source), limits_(limits) {}

    bool null() override { return scalar(Value(), token_end(false)); }
    bool boolean(bool v) override { return scalar(Value(v), token_end(false)); }
    bool number_integer(number_integer_t v) override { return scalar(Value(std::int64_t{v}), token_end(false)); }
    bool number_unsigned(number_unsigned_t v) override {
        // Beyond int64 only the magnitude matters.
        if (v > static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max()))
            return scalar(Value(static_cast<double>(v)), token_end(false));
        return scalar(Value(static_cast<std::int64_t>(v)), token_end(false));
    }
    bool number_float(number_float_t v, const string_t&) override { return scalar(Value(v), token_end(false)); }
    bool string(string_t& v) override { return scalar(Value(std::move(v)), token_end(true)); }
    bool binary(binary_t&) override { return fail("binary data"); }

    bool key(string_t& v) override {
        const std::size_t start = token_start();
        cursor_ = token_end(true);
        Frame& frame = stack_.back();
        if (!frame.keys.insert(v).second)
            return fail_at(start, fmt::format("key \"{}\" stands twice; keep one of them", printable(v)));
        frame.key = std::move(v);
        frame.key_at = position(start);
        return true;
    }
    bool start_object(std::size_t) override { return open(Value::object()); }
    bool end_object() override { return close(); }
    bool start_array(std::size_t) override { return open(Value::array()); }
    bool end_array() override { return close(); }

    bool parse_error(std::size_t byte, const std::string&, const nlohmann::detail::exception& e) override {
        std::string what = e.what();
        // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error ...": keep what follows the
        // place.
        if (const auto colon = what.find(": "); colon != std::string::npos) what = what.substr(colon + 2);
        if (const auto last = what.find("; last read: "); last != std::string::npos) what.replace(last, 13, "; read: ");
        if (what.size() > 300) what = what.substr(0, 300) + "...";
        return fail_at(byte > 0 ? byte - 1 : 0, printable(what));
    }

    bool fail(const std::string& text) { return fail_at(token_start(), text); }
    const std::string& error() const { return error_; }
    Value take() { return std::move(root_); }

private:
    struct Frame {
        Value value;
        std::set<std::string> keys;
        std::string key;
        Position key_at;
    };

    // The token of an event starts behind the last one, after white space and separators.
    std::size_t token_start() const {
        std::size_t at = cursor_;
        while (at < text_.size() && std::string_view(" \t\r\n,:").find(text_[at]) != std::string_view::npos) ++at;
        if (at == 0 && text_.substr(0, 3) == "\xEF\xBB\xBF") at = 3;
        return at;
    }
    std::size_t token_end(bool quoted) const {
        std::size_t at = token_start();
        if (quoted) {
            for (++at; at < text_.size() && text_[at] != '"'; ++at)
                if (text_[at] == '\\') ++at;
            return at + 1;
        }
        while (at < text_.size() && std::string_view(" \t\r\n,:]}").find(text_[at]) == std::string_view::npos) ++at;
        return at;
    }
    // Events come in the order of the text, so lines are counted once.
    Position position(std::size_t byte) {
        byte = std::min(byte, text_.size());
        if (byte < line_start_) {
            line_ = 1;
            line_start_ = 0;
        }
        for (auto at = text_.find('\n', line_start_); at != std::string_view::npos && at < byte;
             at = text_.find('\n', line_start_)) {
            ++line_;
            line_start_ = at + 1;
        }
        return {line_, static_cast<int>(byte - line_start_) + 1};
    }
    static std::string printable(std::string_view text) {
        std::string out;
        for (const char c : text.substr(0, 300)) out += (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) ? '?' : c;
        return out;
    }
    bool fail_at(std::size_t byte, const std::string& text) {
        if (error_.empty()) error_ = at_place(source_, position(byte), text);
        return false;
    }
    bool count() {
        if (++values_ <= limits_.values) return true;
        return fail(fmt::format("more than {} values; describe repeated layers with \"repeat\"", limits_.values));
    }
    bool scalar(Value value, std::size_t end) {
        if (!count()) return false;
        value.at = position(token_start());
        cursor_ = end;
        attach(std::move(value));
        return true;
    }
    bool open(Value value) {
        if (!count()) return false;
        const std::size_t start = token_start();
        if (static_cast<int>(stack_.size()) >= limits_.depth)
            return fail_at(start, fmt::format("nested deeper than {} levels; flatten the description", limits_.depth));
        value.at = position(start);
        cursor_ = start + 1;
        stack_.push_back({std::move(value), {}, {}, {}});
        return true;
    }
    bool close() {
        cursor_ = token_start() + 1;
        Value value = std::move(stack_.back().value);
        stack_.pop_back();
        attach(std::move(value));
        return true;
    }
    void attach(Value value) {
        if (stack_.empty()) {
            root_ = std::move(value);
        } else if (Frame& frame = stack_.back(); frame.value.is_object()) {
            frame.value.as_object().push_back({std::move(frame.key), std::move(value), frame.key_at});
        } else {
            frame.value.as_array().push_back(std::move(value));
        }
    }

    std::string_view text_;
    const std::string& source_;
    const JsonLimits& limits_;
    std::size_t cursor_ = 0;
    int line_ = 1;
    std::size_t line_start_ = 0;
    std::size_t values_ = 0;
    std::vector<Frame> stack_;
    Value root_;
    std::string error_;
};

nlohmann::ordered_json to_nlohmann(const Value& value) {
    if (value.is_bool()) return value.as_bool();
    if (value.is_integer()) return value.as_integer();
    if (value.is_number())
        return std::isfinite(value.as_number()) ? nlohmann::ordered_json(value.as_number()) : nullptr;
    if (value.is_string()) return value.as_string();
    if (value.is_array()) {
        auto out = nlohmann::ordered_json::array();
        for (const Value& element : value.as_array()) out.push_back(to_nlohmann(element));
        return out;
    }
    if (value.is_object()) {
        auto out = nlohmann::ordered_json::object();
        for (const Value::Member& member : value.as_object()) out[member.key] = to_nlohmann(member.value);
        return out;
    }
    return nullptr;
}

}  // namespace

Result<Value> parse_json(std::string_view text, const std::string& source, const JsonLimits& limits) {
    if (text.size() > limits.bytes)
        return invalid_argument(
            fmt::format("{}: {} bytes, more than the {} a model description may have; leave out weights "
                        "and describe repeated layers with \"repeat\"",
                        source, text.size(), limits.bytes));
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
        return invalid_argument(fmt::format("{}: empty; it should hold a JSON object", source));
    try {
        TreeBuilder builder(text, source, limits);
        if (!json::sax_parse(text.begin(), text.end(), &builder))
            return invalid_argument(builder.error().empty() ? source + ": not JSON" : builder.error());
        return builder.take();
    } catch (const std::exception& e) {
        return invalid_argument(fmt::format("{}: {}", source, e.what()));
    }
}

std::string write_json(const Value& value, int indent) {
    try {
        return to_nlohmann(value).dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    } catch (const std::exception&) {
        return "null";  // out of memory: the one fault that is left
    }
}

}  // namespace dlcast
