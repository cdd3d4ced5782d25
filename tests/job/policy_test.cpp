// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/policy.h"

#include <catch2/catch.hpp>

using namespace dlcast;

namespace {
// Without spread every quantile is the median, so that a limit is plain arithmetic.
JobForecast of_minutes(double minutes) {
    JobForecast forecast;
    forecast.p50_s = minutes * 60;
    return forecast;
}
TimeCap max_time(const std::string& partition, std::int64_t minutes) {
    return {minutes, "partition " + partition + " MaxTime", "partition's MaxTime"};
}
SiteConfig site() {
    SiteConfig config;
    config.margin_factor = 1.2;
    config.round_up_min = 15;
    config.floor_min = 15;
    return config;
}
}  // namespace

TEST_CASE("a limit is the quantile with its margin, rounded up", "[policy]") {
    const auto [minutes, limit] = GENERATE(table<double, std::int64_t>({
        {190, 240},  // 228
        {200, 240},  // 240 exactly
        {201, 255},  // 241.2
        {1, 15},     // the floor
        {0, 15},
    }));
    const TimeLimit chosen = choose_time_limit(of_minutes(minutes), site(), max_time("a100", -1));
    CHECK(chosen.minutes == limit);
    CHECK(chosen.fits);
    CHECK(chosen.cap.empty());
}

TEST_CASE("a limit is never zero", "[policy]") {
    SiteConfig config = site();
    config.floor_min = 0;
    config.round_up_min = 0;
    CHECK(choose_time_limit(of_minutes(0), config, max_time("a100", -1)).minutes == 1);
}

TEST_CASE("a partition's MaxTime caps the limit and is named", "[policy]") {
    // 1300 x 1.2 = 1560 min is more than a day, the forecast itself is not.
    const TimeLimit close = choose_time_limit(of_minutes(1300), site(), max_time("a100", 1440));
    CHECK(close.minutes == 1440);
    CHECK(close.fits);
    CHECK(close.cap == "partition a100 MaxTime 1-00:00:00");
    const TimeLimit beyond = choose_time_limit(of_minutes(1500), site(), max_time("a100", 1440));
    CHECK(beyond.minutes == 1440);
    CHECK_FALSE(beyond.fits);
    CHECK(beyond.capped_by == "partition's MaxTime");
}

TEST_CASE("the lower of ceiling and MaxTime binds, and a floor does not lift over it", "[policy]") {
    SiteConfig config = site();
    config.ceiling_min = 720;
    CHECK(choose_time_limit(of_minutes(1000), config, max_time("a100", 1440)).minutes == 720);
    CHECK(choose_time_limit(of_minutes(1000), config, max_time("a100", 600)).minutes == 600);
    config.floor_min = 60;
    CHECK(choose_time_limit(of_minutes(1), config, max_time("debug", 30)).minutes == 30);
}

TEST_CASE("a forecast beyond all bounds still gives a number", "[policy]") {
    const TimeLimit limit = choose_time_limit(of_minutes(1e300), site(), max_time("a100", -1));
    CHECK(limit.minutes == 10 * 365 * 24 * 60);
    CHECK_FALSE(limit.fits);
}

TEST_CASE("the soft limit is the median, rounded, below the limit", "[policy]") {
    CHECK(soft_limit_min(of_minutes(100), site(), 240) == 105);
    CHECK(soft_limit_min(of_minutes(1), site(), 240) == 15);
    CHECK(soft_limit_min(of_minutes(300), site(), 240) == 240);
}

TEST_CASE("a limit the user asked for yields to policy only", "[policy]") {
    const auto [overwrite, asked, ours, may] = GENERATE(table<Overwrite, std::int64_t, std::int64_t, bool>({
        {Overwrite::never, -1, 60, true},
        {Overwrite::never, 120, 60, false},
        {Overwrite::never, 0, 60, false},
        {Overwrite::shorten, 120, 60, true},
        {Overwrite::shorten, 30, 60, false},
        {Overwrite::shorten, 0, 60, true},  // UNLIMITED
        {Overwrite::always, 30, 60, true},
    }));
    CHECK(may_set_limit(overwrite, asked, ours) == may);
}

TEST_CASE("limits are written as sbatch takes them", "[policy]") {
    CHECK(format_limit(240) == "4:00:00");
    CHECK(format_limit(720) == "12:00:00");
    CHECK(format_limit(1500) == "1-01:00:00");
}
