// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/accounting/calendar.h"

#include <catch2/catch.hpp>

#include "tests/accounting/zone.h"

using dlcast::Calendar;

TEST_CASE("a moment is local, or whole seconds since the epoch", "[accounting]") {
    const Zone zone(berlin);
    Calendar calendar;
    CHECK(calendar.parse("2026-01-15T12:00:00") == 1'768'474'800);  // 11:00 UTC
    CHECK(calendar.parse("2026-07-15T12:00:00") == 1'784'109'600);  // 10:00 UTC
    CHECK(calendar.parse("1784109600") == 1'784'109'600);
    for (const char* none : {"Unknown", "None", "N/A", "", "0", "2026-13-01T00:00:00", "2026-01-15 12:00:00", "12:00"})
        CHECK_FALSE(calendar.parse(none));
    CHECK(calendar.moment(1'784'109'600) == "2026-07-15T12:00:00+0200");
}

TEST_CASE("without a zone moments are UTC", "[accounting]") {
    const Zone zone("UTC0");
    Calendar calendar;
    CHECK(calendar.parse("2026-07-15T10:00:00") == 1'784'109'600);
}

TEST_CASE("days of a DST change have 23 and 25 hours", "[accounting]") {
    const Zone zone(berlin);
    Calendar calendar;
    const auto hours = [&](const char* noon) {
        const auto day = calendar.day_of(*calendar.parse(noon));
        return (day.end_s - day.begin_s) / 3600;
    };
    CHECK(hours("2026-03-28T12:00:00") == 24);
    CHECK(hours("2026-03-29T12:00:00") == 23);
    CHECK(hours("2026-10-25T12:00:00") == 25);
    CHECK(calendar.date(*calendar.parse("2026-10-25T23:59:59")) == "2026-10-25");
}

TEST_CASE("in a repeated hour the pass that fits the run time counts", "[accounting]") {
    const Zone zone(berlin);
    Calendar calendar;
    // On 2026-10-25 the clock goes from 03:00 CEST back to 02:00 CET; 00:30 UTC and 01:30 UTC both read 02:30.
    const std::int64_t first = 1'792'888'200, second = first + 3600;
    CHECK(calendar.parse("2026-10-25T02:30:00") == first);
    const auto end = "2026-10-25T04:30:00";  // 03:30 UTC
    CHECK(calendar.parse_run("2026-10-25T02:30:00", end, 3 * 3600)->first == first);
    CHECK(calendar.parse_run("2026-10-25T02:30:00", end, 2 * 3600)->first == second);
    // Suspended for a while: neither fits, and the first pass stands.
    CHECK(calendar.parse_run("2026-10-25T02:30:00", end, 600)->first == first);
    // Both ends in the repeated hour.
    CHECK(calendar.parse_run("2026-10-25T02:40:00", "2026-10-25T02:30:00", 3000)->second == second);
}

TEST_CASE("a window is given as to sacct", "[accounting]") {
    const Zone zone(berlin);
    Calendar calendar;
    const std::int64_t now = *calendar.parse("2026-03-29T12:00:00");
    CHECK(calendar.parse_when("now", now) == now);
    CHECK(calendar.parse_when("now-7days", now) == now - 7 * 86'400);
    CHECK(calendar.parse_when("now-1hour", now) == now - 3600);
    CHECK(calendar.parse_when("today", now) == now - 11 * 3600);  // the hour from 2 to 3 was not
    CHECK(calendar.parse_when("2026-03-29", now) == now - 11 * 3600);
    CHECK(calendar.parse_when("2026-03-29T11:30", now) == now - 1800);
    for (const char* none : {"yesterday-ish", "now-", "now-3eons", "29.03.2026"})
        CHECK_FALSE(calendar.parse_when(none, now));
}
