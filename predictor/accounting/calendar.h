// SPDX-License-Identifier: GPL-2.0-or-later
// Moments as Slurm prints them, and local days, in the time zone of the process (TZ). A day of a DST change has 23 or
// 25 hours. Not for several threads at once.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace dlcast {

class Calendar {
public:
    /// Reads TZ.
    Calendar();

    /// Seconds since the epoch of "2026-03-29T02:30:00", or of whole seconds (SLURM_TIME_FORMAT=%s); nothing for
    /// Unknown, None, N/A and text that is no moment. An hour that a DST change repeats means its first pass.
    std::optional<std::int64_t> parse(std::string_view text);
    /// Start and end of a run that took `elapsed_s`: where one of them lies in a repeated hour, the pass that fits.
    /// Nothing where either is no moment.
    std::optional<std::pair<std::int64_t, std::int64_t>> parse_run(std::string_view start, std::string_view end,
                                                                   std::int64_t elapsed_s);
    /// sacct's ways to say when: a moment, "2026-03-29" with or without "T02:30", "now", "today", "midnight",
    /// "now-7days" (also weeks, hours, minutes).
    std::optional<std::int64_t> parse_when(std::string_view text, std::int64_t now_s);

    struct Day {
        std::int64_t begin_s = 0, end_s = 0;  // [begin, end)
    };
    /// The local day that holds the moment.
    Day day_of(std::int64_t moment_s);
    /// The Monday that begins the local week of the moment.
    std::int64_t week_of(std::int64_t moment_s);
    std::string date(std::int64_t moment_s) const;    // "2026-03-29"
    std::string moment(std::int64_t moment_s) const;  // "2026-03-29T02:30:00+0200"
    std::string zone(std::int64_t moment_s) const;    // "CEST"

private:
    struct Hour {
        std::int64_t first_s = 0, second_s = 0;  // two different ones where the hour is repeated
    };
    std::optional<Hour> read(std::string_view text);

    std::unordered_map<std::int64_t, Hour> hours_;
    std::map<std::int64_t, Day> days_;  // by their begin
    Day last_;
};

}  // namespace dlcast
