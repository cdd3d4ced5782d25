// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <cmath>

#include "predictor/base/json.h"
#include "predictor/base/utf8.h"

namespace dlcast {
namespace {

bool is_plain(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
}

void write_string(std::string_view text, std::string& out) {
    out += '"';
    while (!text.empty()) {
        std::size_t length = 0;
        while (length < text.size() && is_plain(text[length])) ++length;
        out.append(text, 0, length);
        text.remove_prefix(length);
        if (text.empty()) break;
        length = utf8_sequence(text);
        const auto escape = std::string_view("\"\\\b\f\n\r\t").find(text[0]);
        if (escape != std::string_view::npos)
            (out += '\\') += "\"\\bfnrt"[escape];
        else if (length == 1)
            out += fmt::format("\\u{:04x}", text[0]);
        else if (length > 0)
            out.append(text, 0, length);
        else
            out += "\xEF\xBF\xBD";  // U+FFFD in the place of a byte that is no UTF-8
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    out += '"';
}

// Reads back as a real number.
void write_real(double number, std::string& out) {
    if (!std::isfinite(number)) return void(out += "null");
    const std::size_t start = out.size();
    fmt::format_to(std::back_inserter(out), "{}", number);
    if (out.find_first_of(".e", start) == std::string::npos) out += ".0";
}

class Writer {
public:
    Writer(int indent, std::size_t most_bytes) : indent_(indent), most_bytes_(most_bytes) {}

    void write(const Value& value, int depth) {
        if (value.is_bool())
            out += value.as_bool() ? "true" : "false";
        else if (value.is_integer())
            fmt::format_to(std::back_inserter(out), "{}", value.as_integer());
        else if (value.is_number())
            write_real(value.as_number(), out);
        else if (value.is_string())
            write_string(value.as_string(), out);
        else if (value.is_array())
            write_all(value.as_array(), "[]", depth, [&](const Value& v) { write(v, depth + 1); });
        else if (value.is_object())
            write_all(value.as_object(), "{}", depth, [&](const Value::Member& member) {
                write_string(member.key, out);
                out += indent_ < 0 ? ":" : ": ";
                write(member.value, depth + 1);
            });
        else
            out += "null";
    }

    std::string out;

private:
    void break_line(int depth) {
        if (indent_ < 0) return;
        out += '\n';
        out.append(static_cast<std::size_t>(indent_ * depth), ' ');
    }

    template <typename Container, typename One>
    void write_all(const Container& container, const char* brackets, int depth, One&& one) {
        out += brackets[0];
        bool first = true;
        for (const auto& element : container) {
            if (out.size() > most_bytes_) return;
            if (!first) out += ',';
            first = false;
            break_line(depth + 1);
            one(element);
        }
        if (!first) break_line(depth);
        out += brackets[1];
    }

    int indent_;
    std::size_t most_bytes_;
};

}  // namespace

std::string write_json(const Value& value, int indent) {
    try {
        Writer writer(indent, std::string::npos);
        writer.write(value, 0);
        return std::move(writer.out);
    } catch (const std::exception&) {
        return "null";  // out of memory: the one fault that is left
    }
}

std::optional<std::string> write_json_within(const Value& value, std::size_t most_bytes) {
    try {
        Writer writer(-1, most_bytes);
        writer.write(value, 0);
        if (writer.out.size() <= most_bytes) return std::move(writer.out);
    } catch (const std::exception&) {
        // out of memory, as above
    }
    return std::nullopt;
}

}  // namespace dlcast
