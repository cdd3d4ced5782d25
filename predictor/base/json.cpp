// SPDX-License-Identifier: GPL-2.0-or-later
// JSON as RFC 8259 has it, in one pass straight into the tree: a file of 1 MiB is read while sbatch waits, and a forged
// payload while slurmctld holds its locks. Recursion ends at the depth allowed.
#include "predictor/base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <exception>

#include "predictor/base/duplicate_key.h"
#include "predictor/base/reader.h"
#include "predictor/base/text.h"
#include "predictor/base/utf8.h"

namespace dlcast {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

bool is_digit(char c) { return c >= '0' && c <= '9'; }
// What may stand in a string as it is, one byte a character.
constexpr std::array<bool, 256> plain_bytes() {
    std::array<bool, 256> out{};
    for (std::size_t byte = 0x20; byte < 0x80; ++byte) out[byte] = byte != '"' && byte != '\\';
    return out;
}
constexpr std::array<bool, 256> plain = plain_bytes();
bool is_plain(char c) { return plain[static_cast<unsigned char>(c)]; }

class Parser {
public:
    Parser(std::string_view text, const std::string& source, const JsonLimits& limits)
        : text_(text), source_(source), limits_(limits) {
        if (text_.starts_with(byte_order_mark)) at_ = byte_order_mark.size();
    }

    Result<Value> parse() {
        Value root;
        skip_space();
        if (!read_value(root, 0)) return invalid_argument(fault_);
        skip_space();
        if (at_ < text_.size() && !fail("text behind the end of the JSON value; take it out"))
            return invalid_argument(fault_);
        return root;
    }

private:
    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    Position place() const { return {line_, static_cast<int>(at_ - line_start_) + 1}; }
    bool fail_at(Position at, const std::string& fault) {
        if (fault_.empty()) fault_ = at_place(source_, at, fault);
        return false;
    }
    bool fail(const std::string& fault) { return fail_at(place(), fault); }
    bool fail_encoding() { return fail("bytes that are no UTF-8; save the file as UTF-8 text"); }
    // `what` is missing here.
    bool expected(std::string_view what) {
        if (at_ >= text_.size()) return fail(fmt::format("the text ends where {} should stand", what));
        if (text_.substr(at_).starts_with("//") || text_.substr(at_).starts_with("/*") || peek() == '#')
            return fail("a comment; JSON has none, take it out");
        for (const std::string_view word : {"NaN", "Infinity", "-Infinity"})
            if (text_.substr(at_).starts_with(word))
                return fail(fmt::format("{}; JSON has none, write a number", word));
        const std::size_t length = utf8_sequence(text_.substr(at_));
        if (length == 0) return fail_encoding();
        return fail(fmt::format("expected {}, found '{}'", what, text_.substr(at_, length)));
    }

    void skip_space() {
        for (; at_ < text_.size(); ++at_) {
            const char c = text_[at_];
            if (c == '\n') {
                ++line_;
                line_start_ = at_ + 1;
            } else if (c != ' ' && c != '\t' && c != '\r') {
                return;
            }
        }
    }

    bool read_value(Value& out, int depth) {
        if (++values_ > limits_.values)
            return fail(fmt::format("more than {} values; describe repeated layers with \"repeat\"", limits_.values));
        const Position start = place();
        bool good = false;
        switch (peek()) {
            case '{':
            case '[':
                if (depth >= limits_.depth)
                    return fail(fmt::format("nested deeper than {} levels; flatten the description", limits_.depth));
                good = peek() == '{' ? read_object(out, depth + 1) : read_array(out, depth + 1);
                break;
            case '"':
                good = read_string(out.become<std::string>());
                break;
            case 't':
                good = read_word("true");
                out.become<bool>(true);
                break;
            case 'f':
                good = read_word("false");
                out.become<bool>(false);
                break;
            case 'n':
                good = read_word("null");
                break;
            default:
                good = read_number(out);
        }
        out.at = start;
        return good;
    }

    bool read_word(std::string_view word) {
        if (!text_.substr(at_).starts_with(word)) return expected("a value");
        at_ += word.size();
        return true;
    }

    // Behind a member or an element: true where another one follows, `closed` where the bracket does.
    bool goes_on(char bracket, bool& closed) {
        skip_space();
        closed = peek() == bracket;
        if (!closed && peek() != ',') return expected(fmt::format("',' or '{}'", bracket));
        ++at_;
        skip_space();
        if (!closed && peek() == bracket) return fail(fmt::format("a comma before '{}'; take it out", bracket));
        return true;
    }

    // The most elements, and members, that containers of one depth had of late: lists hold objects of one kind.
    using Usual = std::array<std::size_t, 64>;
    static constexpr std::size_t wide = 64;

    // Room for another one. A wide container, which began at `start`, is given what the rest of the text may hold at
    // its rate so far (at most fourfold): memory touched again and again costs more than reading.
    template <typename Container>
    void make_room(Container& container, std::size_t start, std::size_t usual) const {
        const std::size_t size = container.size();
        if (size == 0) container.reserve(usual);
        if (size < wide || size < container.capacity()) return;
        const std::size_t rest = (text_.size() - at_) / ((at_ - start) / size) + 1;
        container.reserve(size + std::clamp(rest, size / 2, 3 * size));
    }

    // A narrow container gives back what it did not need, and the next one fills that: a page touched for the first
    // time costs more than moving what it would hold.
    template <typename Container>
    static void fit(Container& container, std::size_t& usual) {
        if (container.size() >= wide) return;
        container.shrink_to_fit();
        usual = std::max(usual - usual / 8, container.size());
    }

    bool read_array(Value& out, int depth) {
        auto& array = out.become<Value::Array>();
        const std::size_t start = at_++;
        std::size_t& usual = usual_elements_[static_cast<std::size_t>(depth) % usual_elements_.size()];
        skip_space();
        bool closed = peek() == ']';
        if (closed) ++at_;
        while (!closed) {
            make_room(array, start, usual);
            if (!read_value(array.emplace_back(), depth) || !goes_on(']', closed)) return false;
        }
        fit(array, usual);
        return true;
    }

    bool read_object(Value& out, int depth) {
        auto& object = out.become<Value::Object>();
        const std::size_t start = at_++;
        std::size_t& usual = usual_members_[static_cast<std::size_t>(depth) % usual_members_.size()];
        skip_space();
        bool closed = peek() == '}';
        if (closed) ++at_;
        while (!closed) {
            make_room(object, start, usual);
            Value::Member& member = object.emplace_back();
            member.at = place();
            if (peek() != '"') return expected("a key in double quotes");
            if (!read_string(member.key)) return false;
            skip_space();
            if (peek() != ':') return expected("':' behind a key");
            ++at_;
            skip_space();
            if (!read_value(member.value, depth) || !goes_on('}', closed)) return false;
        }
        fit(object, usual);
        if (const Value::Member* twice = duplicate_key(object))
            return fail_at(twice->at, fmt::format("key \"{}\" stands twice; keep one of them", twice->key));
        return true;
    }

    bool read_string(std::string& out) {
        ++at_;
        while (true) {
            const std::size_t start = at_;
            while (at_ < text_.size() && is_plain(text_[at_])) ++at_;
            out.append(text_, start, at_ - start);
            if (at_ >= text_.size()) return expected("'\"' behind a string");
            const char c = text_[at_];
            if (c == '"') {
                ++at_;
                return true;
            }
            if (c == '\\') {
                if (!read_escape(out)) return false;
                continue;
            }
            const std::size_t length = utf8_sequence(text_.substr(at_));
            if (length == 1) return fail("a control character inside a string; write it as \\n, \\t or \\u000b");
            if (length == 0) return fail_encoding();
            out.append(text_, at_, length);
            at_ += length;
        }
    }

    bool read_escape(std::string& out) {
        constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
        ++at_;
        const char c = peek();
        if (const auto found = letters.find(c); at_ < text_.size() && found != std::string_view::npos) {
            out += meanings[found];
            ++at_;
            return true;
        }
        if (c != 'u') return expected("one of \" \\ / b f n r t u behind a backslash");
        unsigned code = 0;
        if (!read_hex(code)) return false;
        if (code >= 0xD800 && code <= 0xDBFF) {
            unsigned low = 0;
            if (!text_.substr(at_).starts_with("\\u")) return expected("the second half of a surrogate pair");
            ++at_;
            if (!read_hex(low)) return false;
            if (low < 0xDC00 || low > 0xDFFF) return fail("half of a surrogate pair; write the character itself");
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        } else if (code >= 0xDC00 && code <= 0xDFFF) {
            return fail("half of a surrogate pair; write the character itself");
        }
        append_utf8(code, out);
        return true;
    }

    // Stands on the 'u'.
    bool read_hex(unsigned& code) {
        const std::string_view digits = text_.substr(at_ + 1, 4);
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
        if (digits.size() < 4 || error != std::errc() || end != digits.data() + 4)
            return fail("\\u needs four hexadecimal digits");
        at_ += 5;
        return true;
    }

    static void append_utf8(unsigned code, std::string& out) {
        const auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
        if (code < 0x80) {
            out += static_cast<char>(code);
        } else if (code < 0x800) {
            out += static_cast<char>(0xC0 | (code >> 6));
            tail(0);
        } else if (code < 0x10000) {
            out += static_cast<char>(0xE0 | (code >> 12));
            tail(6);
            tail(0);
        } else {
            out += static_cast<char>(0xF0 | (code >> 18));
            tail(12);
            tail(6);
            tail(0);
        }
    }

    bool read_number(Value& out) {
        const std::size_t start = at_;
        if (peek() == '-') ++at_;
        if (!is_digit(peek())) {
            at_ = start;
            return expected("a value");
        }
        const bool leading_zero = peek() == '0';
        while (is_digit(peek())) ++at_;
        bool whole = true;
        if (leading_zero && at_ - start > (text_[start] == '-' ? 2u : 1u)) {
            at_ = start;
            return fail("a number with a leading zero; take it out");
        }
        if (peek() == '.') {
            whole = false;
            ++at_;
            if (!is_digit(peek())) return expected("a digit");
            while (is_digit(peek())) ++at_;
        }
        if (peek() == 'e' || peek() == 'E') {
            whole = false;
            ++at_;
            if (peek() == '+' || peek() == '-') ++at_;
            if (!is_digit(peek())) return expected("a digit");
            while (is_digit(peek())) ++at_;
        }
        const std::string_view number = text_.substr(start, at_ - start);
        std::int64_t integer = 0;
        if (whole && std::from_chars(number.data(), number.data() + number.size(), integer).ec == std::errc()) {
            out.become<std::int64_t>(integer);
            return true;
        }
        // Beyond 64 bits only the magnitude matters.
        if (const auto real = parse_number(number)) {
            out.become<double>(*real);
            return true;
        }
        at_ = start;
        return fail(fmt::format("the number {} is beyond what can be held (1.8e308); write a smaller one",
                                one_line(number, 40)));
    }

    std::string_view text_;
    const std::string& source_;
    const JsonLimits& limits_;
    std::size_t at_ = 0;
    int line_ = 1;
    std::size_t line_start_ = 0;
    std::size_t values_ = 0;
    Usual usual_elements_{}, usual_members_{};
    std::string fault_;
};

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
        return Parser(text, source, limits).parse();
    } catch (const std::exception& e) {
        return invalid_argument(fmt::format("{}: {}", source, e.what()));
    }
}

}  // namespace dlcast
