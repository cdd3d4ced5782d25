// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/accounting/calendar.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "predictor/base/text.h"

namespace dlcast {
namespace {

constexpr std::int64_t latest_s = 253'402'300'800;  // the year 10000

std::tm local(std::int64_t moment_s) {
    const auto t = static_cast<std::time_t>(std::clamp<std::int64_t>(moment_s, 0, latest_s));
    std::tm out{};
    ::localtime_r(&t, &out);
    return out;
}

std::string formatted(std::int64_t moment_s, const char* format) {
    const std::tm fields = local(moment_s);
    std::array<char, 64> buffer{};
    const std::size_t length = std::strftime(buffer.data(), buffer.size(), format, &fields);
    return {buffer.data(), length};
}

// Digits at fixed places; -1 where they are none.
int digits(std::string_view text, std::size_t at, std::size_t count) {
    int out = 0;
    for (std::size_t i = at; i < at + count; ++i) {
        if (i >= text.size() || text[i] < '0' || text[i] > '9') return -1;
        out = 10 * out + (text[i] - '0');
    }
    return out;
}

struct Wall {
    int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
};

// "2026-03-29", "2026-03-29T02:30", "2026-03-29T02:30:00".
std::optional<Wall> wall_of(std::string_view text) {
    const std::size_t size = text.size();
    if (size != 10 && size != 16 && size != 19) return std::nullopt;
    const auto stands = [&](std::size_t at, char c) { return size <= at || text[at] == c; };
    if (!stands(4, '-') || !stands(7, '-') || !stands(10, 'T') || !stands(13, ':') || !stands(16, ':'))
        return std::nullopt;
    Wall out;
    out.year = digits(text, 0, 4), out.month = digits(text, 5, 2), out.day = digits(text, 8, 2);
    if (size > 10) out.hour = digits(text, 11, 2), out.minute = digits(text, 14, 2);
    if (size > 16) out.second = digits(text, 17, 2);
    const auto within = [](int value, int low, int high) { return value >= low && value <= high; };
    if (!within(out.year, 1970, 9999) || !within(out.month, 1, 12) || !within(out.day, 1, 31) ||
        !within(out.hour, 0, 23) || !within(out.minute, 0, 59) || !within(out.second, 0, 60))
        return std::nullopt;
    return out;
}

// isdst: -1 lets the C library choose.
std::int64_t moment_of(const Wall& wall, int isdst) {
    std::tm fields{};
    fields.tm_year = wall.year - 1900;
    fields.tm_mon = wall.month - 1;
    fields.tm_mday = wall.day;
    fields.tm_hour = wall.hour;
    fields.tm_isdst = isdst;
    return ::mktime(&fields);
}

}  // namespace

Calendar::Calendar() { ::tzset(); }

std::optional<Calendar::Hour> Calendar::read(std::string_view text) {
    if (const auto seconds = parse_integer(text)) {
        if (*seconds <= 0 || *seconds >= latest_s) return std::nullopt;
        return Hour{*seconds, *seconds};
    }
    auto wall = wall_of(text);
    if (!wall) return std::nullopt;
    // A million rows share some ten thousand hours, and mktime is slow.
    const std::int64_t key = ((wall->year * 16L + wall->month) * 32 + wall->day) * 32 + wall->hour;
    auto [found, is_new] = hours_.try_emplace(key);
    if (is_new) {
        std::int64_t best = moment_of(*wall, -1), earlier = moment_of(*wall, 1), later = moment_of(*wall, 0);
        // Only readings that give the same wall clock back are ones; outside of repeated hours that is one of the two.
        const auto same_hour = [&](std::int64_t s) { return s > 0 && local(s).tm_hour == wall->hour; };
        if (!same_hour(earlier)) earlier = same_hour(later) ? later : best;
        if (!same_hour(later)) later = earlier;
        found->second = {std::min(earlier, later), std::max(earlier, later)};
    }
    const std::int64_t rest = wall->minute * 60L + wall->second;
    return Hour{found->second.first_s + rest, found->second.second_s + rest};
}

std::optional<std::int64_t> Calendar::parse(std::string_view text) {
    const auto hour = read(text);
    if (!hour) return std::nullopt;
    return hour->first_s;
}

std::optional<std::pair<std::int64_t, std::int64_t>> Calendar::parse_run(std::string_view start, std::string_view end,
                                                                         std::int64_t elapsed_s) {
    const auto begins = read(start), ends = read(end);
    if (!begins || !ends) return std::nullopt;
    for (const std::int64_t from : {begins->first_s, begins->second_s})
        for (const std::int64_t to : {ends->first_s, ends->second_s})
            if (to - from == elapsed_s) return std::pair(from, to);
    return std::pair(begins->first_s, ends->first_s);  // suspended in between: elapsed is less
}

std::optional<std::int64_t> Calendar::parse_when(std::string_view text, std::int64_t now_s) {
    if (text == "now") return now_s;
    if (text == "today" || text == "midnight") return day_of(now_s).begin_s;
    if (text.starts_with("now-") || text.starts_with("now+")) {
        const std::string_view amount = text.substr(4);
        const auto letters = std::min(amount.find_first_not_of("0123456789"), amount.size());
        const auto number = parse_integer(amount.substr(0, letters));
        const std::string_view unit = amount.substr(letters);
        const auto is = [&](std::string_view name) {
            return unit == name || (unit == name.substr(0, name.size() - 1));
        };
        std::int64_t scale = 0;
        if (is("seconds") || unit.empty()) scale = 1;
        if (is("minutes")) scale = 60;
        if (is("hours")) scale = 3600;
        if (is("days")) scale = 86'400;
        if (is("weeks")) scale = 7 * 86'400;
        if (!number || scale == 0 || *number > latest_s / scale) return std::nullopt;
        return now_s + (text[3] == '-' ? -1 : 1) * *number * scale;
    }
    return parse(text);
}

Calendar::Day Calendar::day_of(std::int64_t moment_s) {
    if (moment_s >= last_.begin_s && moment_s < last_.end_s) return last_;
    auto after = days_.upper_bound(moment_s);
    if (after != days_.begin()) {
        const Day& day = std::prev(after)->second;
        if (moment_s < day.end_s) return last_ = day;
    }
    const std::tm fields = local(moment_s);
    Wall midnight;
    midnight.year = fields.tm_year + 1900, midnight.month = fields.tm_mon + 1, midnight.day = fields.tm_mday;
    Day day{moment_of(midnight, -1), 0};
    ++midnight.day;  // the C library takes the 32nd for the 1st
    day.end_s = moment_of(midnight, -1);
    days_.emplace(day.begin_s, day);
    return last_ = day;
}

std::int64_t Calendar::week_of(std::int64_t moment_s) {
    std::int64_t day_s = day_of(moment_s).begin_s;
    for (int back = (local(day_s).tm_wday + 6) % 7; back > 0; --back) day_s = day_of(day_s - 1).begin_s;
    return day_s;
}

std::string Calendar::date(std::int64_t moment_s) const { return formatted(moment_s, "%Y-%m-%d"); }
std::string Calendar::moment(std::int64_t moment_s) const { return formatted(moment_s, "%Y-%m-%dT%H:%M:%S%z"); }
std::string Calendar::zone(std::int64_t moment_s) const { return formatted(moment_s, "%Z"); }

}  // namespace dlcast
