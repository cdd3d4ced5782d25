// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/repeat.h"

#include <catch2/catch.hpp>

using namespace dlcast;

namespace {

// Work that takes what `next` says, on a clock that moves with it alone.
struct FakeWork {
    std::function<double(int)> next;
    double now_s = 0.0;
    int runs = 0;

    Statistics repeat(const RepeatPolicy& policy) {
        return dlcast::repeat(
            [this] {
                const double t = next(runs++);
                now_s += t;
                return t;
            },
            [this] { return now_s; }, policy);
    }
};

}  // namespace

TEST_CASE("steady work ends with the fewest repetitions", "[profiler]") {
    FakeWork work{[](int) { return 0.015; }};
    const Statistics s = work.repeat({});
    CHECK(s.repetitions == 11);
    CHECK(work.runs == 11 + 2);  // two runs of 15 ms warm up for 20 ms
    CHECK(s.median_s == 0.015);
}

TEST_CASE("warm-up is not counted", "[profiler]") {
    FakeWork work{[](int run) { return run < 2 ? 0.5 : 0.01; }};
    CHECK(work.repeat({}).slowest_s == 0.01);
}

TEST_CASE("work that wavers is repeated until its median is known", "[profiler]") {
    FakeWork work{[](int run) { return run % 2 ? 0.001 : 0.0013 + 1e-6 * (run % 7); }};
    const Statistics s = work.repeat({.relative_ci = 0.02, .most_s = 0.5});
    CHECK(s.repetitions > 11);
    CHECK(work.now_s < 0.51);
}

TEST_CASE("long work ends with three repetitions when its time is over", "[profiler]") {
    FakeWork work{[](int run) { return 1.0 + run; }};
    CHECK(work.repeat({.most_s = 2.0}).repetitions == 3);
}
