// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

namespace dlcast {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Bytes of the control character with which UTF-8 `text` starts, 0: another. C0, C1, and those that turn the direction
// of writing (Unicode, UAX 9: U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069), so that no name reads as another.
std::size_t control_bytes(std::string_view text) {
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    if (byte(0) < 0x20 || byte(0) == 0x7f) return 1;
    if (byte(0) == 0xC2 && byte(1) >= 0x80 && byte(1) <= 0x9F) return 2;
    if (byte(0) != 0xE2) return 0;
    const unsigned b = byte(2);
    if (byte(1) == 0x80 && (b == 0x8E || b == 0x8F || (b >= 0xAA && b <= 0xAE))) return 3;
    return byte(1) == 0x81 && b >= 0xA6 && b <= 0xA9 ? 3 : 0;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t above = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
            diagonal = above;
        }
    }
    return row[b.size()];
}

std::string to_lower(std::string_view text) {
    std::string out(text);
    for (char& c : out)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
}

std::string squeeze(std::string_view text) {
    std::string out;
    for (const char c : to_lower(text))
        if (is_digit(c) || is_letter(c)) out += c;
    return out;
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& known) {
    // A name a user typed; longer text is no misspelling, and the distance costs length squared.
    if (name.empty() || name.size() > 128) return "";
    const std::string wanted = to_lower(name);
    std::string best;
    std::size_t best_distance = std::max<std::size_t>(1, wanted.size() / 3) + 1;
    for (const std::string& candidate : known) {
        if (candidate.size() > 2 * wanted.size() + 8) continue;
        const std::size_t distance = edit_distance(wanted, to_lower(candidate));
        if (distance < best_distance) {
            best_distance = distance;
            best = candidate;
        }
    }
    return best;
}

std::string one_line(std::string_view text, std::size_t max_bytes) {
    std::size_t length = std::min(text.size(), max_bytes);
    if (length < text.size())
        while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U) --length;
    text = text.substr(0, length);
    std::string out;
    for (std::size_t i = 0; i < length;) {
        const std::size_t control = control_bytes(text.substr(i));
        out += control > 0 ? '?' : text[i];
        i += std::max<std::size_t>(1, control);
    }
    return out;
}

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> out;
    while (true) {
        const auto at = text.find(separator);
        out.emplace_back(text.substr(0, at));
        if (at == std::string_view::npos) return out;
        text.remove_prefix(at + 1);
    }
}

std::string_view trim(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
    std::int64_t out = 0;
    if (text.empty() || !is_digit(text.front())) return std::nullopt;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return out;
}

std::string format_slurm_time(std::int64_t seconds) {
    const auto days = seconds / 86400, hours = seconds / 3600 % 24, minutes = seconds / 60 % 60;
    if (days > 0) return fmt::format("{}-{:02}:{:02}:{:02}", days, hours, minutes, seconds % 60);
    return fmt::format("{}:{:02}:{:02}", hours, minutes, seconds % 60);
}

std::optional<std::int64_t> parse_slurm_minutes(std::string_view text) {
    const std::string lower = to_lower(trim(text));
    if (lower == "unlimited" || lower == "infinite" || lower == "none" || lower == "-1") return -1;
    std::int64_t days = 0;
    std::string_view rest = lower;
    const auto dash = rest.find('-');
    const bool has_days = dash != std::string_view::npos;
    if (has_days) {
        const auto number = parse_integer(rest.substr(0, dash));
        if (!number) return std::nullopt;
        days = *number;
        rest.remove_prefix(dash + 1);
    }
    std::vector<std::int64_t> parts;
    for (const std::string& part : split(rest, ':')) {
        const auto number = parse_integer(part);
        if (!number) return std::nullopt;
        parts.push_back(*number);
    }
    constexpr std::int64_t most = 1'000'000'000;  // far beyond any limit, far below overflow
    if (parts.size() > 3 || days > most || *std::max_element(parts.begin(), parts.end()) > most) return std::nullopt;
    std::int64_t hours = 0, minutes = 0, seconds = 0;
    if (has_days || parts.size() == 3) {
        hours = parts[0];
        if (parts.size() > 1) minutes = parts[1];
        if (parts.size() > 2) seconds = parts[2];
    } else {
        minutes = parts[0];
        if (parts.size() > 1) seconds = parts[1];
    }
    return days * 1440 + hours * 60 + minutes + (seconds + 59) / 60;
}

std::string format_duration(double seconds) {
    constexpr double year_s = 365.25 * 86'400;
    if (!(seconds < 1e6 * year_s)) return "over a million years";
    if (seconds >= 2 * year_s) return fmt::format("{:.{}f} years", seconds / year_s, seconds < 100 * year_s ? 1 : 0);
    if (seconds < 90) return fmt::format("{:.0f} s", seconds);
    constexpr double most_s = 1e6 * 365 * 86400;  // a million years: nobody waits longer, and no integer overflows
    if (!(seconds < most_s)) return "over a million years";
    const auto minutes = static_cast<std::int64_t>(std::llround(seconds / 60));
    if (minutes < 60) return fmt::format("{} min", minutes);
    if (minutes < 48 * 60)
        return minutes % 60 ? fmt::format("{} h {} min", minutes / 60, minutes % 60)
                            : fmt::format("{} h", minutes / 60);
    const auto hours = (minutes + 30) / 60;
    return hours % 24 ? fmt::format("{} d {} h", hours / 24, hours % 24) : fmt::format("{} d", hours / 24);
}

std::string format_hours(double hours) {
    const double size = std::abs(hours);
    return size >= 1 && size < 1e7 ? fmt::format("{:.1f}", hours) : fmt::format("{:.2g}", hours);
}

std::string format_step_time(double seconds) {
    if (seconds < 1) return fmt::format("{:.3f} ms", 1e3 * seconds);
    return seconds < 90 ? fmt::format("{:.2f} s", seconds) : format_duration(seconds);
}

}  // namespace dlcast
