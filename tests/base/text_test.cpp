// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/base/text.h"

#include <catch2/catch.hpp>
#include <limits>

using namespace dlcast;

TEST_CASE("the nearest name is the one a user meant, or none", "[text]") {
    const std::vector<std::string> known{"conv2d", "linear", "resnet50", "resnet101"};
    CHECK(nearest_name("cov2d", known) == "conv2d");
    CHECK(nearest_name("Conv2D", known) == "conv2d");
    CHECK(nearest_name("resnet5", known) == "resnet50");
    CHECK(nearest_name("transformer", known).empty());
    CHECK(nearest_name("", known).empty());
    CHECK(nearest_name(std::string(100'000, 'a'), known).empty());
}

TEST_CASE("minutes are read in every form sbatch takes", "[text]") {
    // sbatch(1), --time: minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes,
    // days-hours:minutes:seconds
    const auto [text, minutes] = GENERATE(table<std::string, std::int64_t>({{"90", 90},
                                                                            {"1:30", 2},
                                                                            {"0:0", 0},
                                                                            {"2:00:00", 120},
                                                                            {"0:240:0", 240},
                                                                            {"2:00:01", 121},
                                                                            {"1-12", 2160},
                                                                            {"1-12:30", 2190},
                                                                            {"1-00:00:30", 1441},
                                                                            {"UNLIMITED", -1},
                                                                            {"infinite", -1}}));
    INFO(text);
    CHECK(parse_slurm_minutes(text) == minutes);
}

TEST_CASE("what is no time is refused", "[text]") {
    for (const char* text :
         {"", "-", "a", "1:2:3:4", "1-", "-5", "1-2-3", "99999999999999999999", "5:99999999999999", "1.5", "1 2"}) {
        INFO(text);
        CHECK_FALSE(parse_slurm_minutes(text));
    }
}

TEST_CASE("times print as Slurm and as people write them", "[text]") {
    CHECK(format_slurm_time(4 * 3600) == "4:00:00");
    CHECK(format_slurm_time(90061) == "1-01:01:01");
    CHECK(format_duration(45) == "45 s");
    CHECK(format_duration(720) == "12 min");
    CHECK(format_duration(3 * 3600 + 600) == "3 h 10 min");
    CHECK(format_duration(7200) == "2 h");
    CHECK(format_duration(52 * 3600) == "2 d 4 h");
    CHECK(format_duration(1e8) == "3.2 years");  // 1e8 / (365.25 x 86400) = 3.17
    CHECK(format_duration(1e300) == "over a million years");
    CHECK(format_hours(12.68) == "12.7");
    CHECK(format_hours(0.00213) == "0.0021");
    CHECK(format_hours(-1234.56) == "-1234.6");  // what an overdrawn budget has left
    CHECK(format_step_time(0.1183) == "118.300 ms");
    CHECK(format_step_time(12.5) == "12.50 s");
    CHECK(format_step_time(7200) == "2 h");
}

TEST_CASE("numbers are whole texts or nothing", "[text]") {
    CHECK(parse_integer("42") == 42);
    CHECK_FALSE(parse_integer("42x"));
    CHECK_FALSE(parse_integer("-1"));
    CHECK_FALSE(parse_integer("99999999999999999999"));
    CHECK(parse_number("1e3") == 1000.0);
    CHECK_FALSE(parse_number("nan"));
    CHECK_FALSE(parse_number("1e999"));
    CHECK_FALSE(parse_number(""));
}

TEST_CASE("text of others stays on one line and within its length", "[text]") {
    CHECK(one_line("a\nb\tc", 80) == "a?b?c");
    CHECK(one_line("abcdef", 4) == "abcd");
    CHECK(one_line("ab\xc3\xa9", 3) == "ab");  // the second byte of the last character would not fit
    CHECK(one_line("", 3).empty());
    // Right-to-left override, an isolate, a C1 control; letters of the same first bytes stay.
    CHECK(one_line("a\xE2\x80\xAE"
                   "b\xE2\x81\xA6"
                   "c\xC2\x9B"
                   "d",
                   80) == "a?b?c?d");
    CHECK(one_line("\xE2\x80\x93\xC3\xA9\xE2\x80", 80) == "\xE2\x80\x93\xC3\xA9\xE2\x80");
}

TEST_CASE("a time beyond all jobs is said and does not overflow", "[text]") {
    CHECK(format_duration(1e30) == "over a million years");
    CHECK(format_duration(std::numeric_limits<double>::infinity()) == "over a million years");
    CHECK(format_duration(365.0 * 86400) == "365 d");
}

TEST_CASE("names are compared by letters and digits alone", "[text]") {
    CHECK(squeeze("NVIDIA A100-SXM4_80 GB") == "nvidiaa100sxm480gb");
    CHECK(split("a,,b", ',') == std::vector<std::string>{"a", "", "b"});
    CHECK(split("", ',') == std::vector<std::string>{""});
    CHECK(trim("  x y\n") == "x y");
    CHECK(trim(" \t").empty());
}
