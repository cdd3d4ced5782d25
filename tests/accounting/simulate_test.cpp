// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <random>

#include "cli/trace_reader.h"
#include "tests/accounting/zone.h"
#include "tests/scratch_folder.h"

using namespace dlcast;
using Catch::Matchers::Contains;

namespace {
SimulatedJob job(std::int64_t submit_s, std::int64_t run_s, int size, std::int64_t planned_s,
                 std::int64_t limit_s = -1) {
    return {submit_s, run_s, planned_s, limit_s, size, false};
}
}  // namespace

TEST_CASE("a job goes ahead where it does not delay the first one waiting", "[accounting]") {
    // Four GPUs. A: 3 GPUs until 100. B waits for 4 GPUs, reserved at 100. C (1 GPU, 50 s) goes ahead; D (1 GPU, 200 s)
    // would delay B and waits for it.
    const std::vector<SimulatedJob> jobs{job(0, 100, 3, 100), job(1, 10, 4, 10), job(2, 50, 1, 50),
                                         job(3, 200, 1, 200)};
    const auto r = simulate_easy(jobs, 4);
    // Waits: A 0, B 99, C 0, D until 110: 107.
    CHECK(r.mean_wait_s == Approx((0 + 99 + 0 + 107) / 4.0));
    CHECK(r.utilisation == Approx((300 + 40 + 50 + 200) / (4.0 * 310)));
    CHECK(r.killed == 0);
    // Planned too long, C waits as well: until 110.
    auto longer = jobs;
    longer[2].planned_s = 1000;
    CHECK(simulate_easy(longer, 4).mean_wait_s == Approx((0 + 99 + 108 + 107) / 4.0));
}

TEST_CASE("a backfilled job may use GPUs that the first one leaves", "[accounting]") {
    // A: 3 of 4 until 100; B needs 3 at 100 and leaves one: C (1 GPU) may run past 100.
    const auto r = simulate_easy({job(0, 100, 3, 100), job(1, 10, 3, 10), job(2, 500, 1, 500)}, 4);
    CHECK(r.mean_wait_s == Approx(99 / 3.0));
}

TEST_CASE("a job is killed at its limit, and one past its soft limit is planned to the hard one", "[accounting]") {
    const auto r = simulate_easy({job(0, 1000, 2, 300, 600)}, 2);
    CHECK(r.killed == 1);
    CHECK(r.used_h == Approx(2 * 600 / 3600.0));
    CHECK(r.asked_over_used == Approx(1.0));
    // A is planned for 10 s and runs 100. At 20, past its soft limit, it is planned to its limit at 120, so that C (50
    // s) may go ahead of B, which gets A's GPU at 100.
    const auto soft = simulate_easy({job(0, 100, 1, 10, 120), job(1, 10, 2, 10), job(20, 50, 1, 50)}, 2);
    CHECK(soft.mean_wait_s == Approx((0 + 99 + 0) / 3.0));
    CHECK(simulate_easy({job(0, 10, 3, 10)}, 2).too_large == 1);
}

TEST_CASE("a trace of sacct is replayed by partition under three kinds of limits", "[accounting]") {
    const ScratchFolder folder;
    const Zone zone("UTC0");
    Calendar calendar;
    const std::string header =
        "JobID|Account|Partition|State|Submit|Start|End|ElapsedRaw|TimelimitRaw|AllocTRES|AdminComment\n";
    const auto row = [](int id, const char* state, int submit, int elapsed, int limit_min, const char* comment) {
        const int start = 1'000'000 + submit;
        return fmt::format("{}|lab|a100|{}|{}|{}|{}|{}|{}|gres/gpu=2|{}\n", id, state, start, start, start + elapsed,
                           elapsed, limit_min, comment);
    };
    const std::string comment = R"({"dlcast":{"v":1,"p50_s":3000,"p95_s":3500,"limit_s":3600}})";
    const auto file =
        folder.write("t.txt", header + row(1, "COMPLETED", 0, 3500, 600, comment.c_str()) +
                                  row(2, "COMPLETED", 60, 5000, 600, comment.c_str()) +
                                  row(3, "TIMEOUT", 120, 1800, 30, comment.c_str()) +
                                  row(4, "COMPLETED", 180, 100, 10, "") + row(5, "CANCELLED", 180, 0, 10, ""));
    const auto trace = read_trace(file, {}, calendar);
    REQUIRE(trace);
    CHECK(trace->left_out == 1);
    const TracePool& pool = trace->pools.at("a100");
    CHECK(pool.capacity == 8);  // all four at once, from 180 to 280
    const auto users = run_scenario(pool, LimitKind::users), ours = run_scenario(pool, LimitKind::dlcast);
    CHECK(users.killed == 1);  // as in the trace
    CHECK(users.unknown == 0);
    CHECK(ours.killed == 1);   // job 2
    CHECK(ours.unknown == 1);  // job 3 would have had an hour
    CHECK(ours.asked_h == Approx(2 * (3600 * 3 + 600) / 3600.0));
    CHECK(run_scenario(pool, LimitKind::soft).killed == 1);
}

TEST_CASE("a job that timed out at a limit of dlcast's has used its run time where the user's own limit is unknown",
          "[accounting]") {
    TracePool pool;
    pool.capacity = 1;
    TraceJob one;
    one.run_s = 8 * 3600;
    one.dlcast_limit_s = 8 * 3600;
    one.timed_out = true;
    pool.jobs.push_back(one);
    const auto users = run_scenario(pool, LimitKind::users);
    CHECK(users.used_h == Approx(8.0));
    CHECK(users.killed_h == Approx(0.0));
}

TEST_CASE("a Standard Workload Format file is read with its size, and a wrong one says where", "[accounting]") {
    const ScratchFolder folder;
    Calendar calendar;
    const auto line = [](int id, int submit, int run, int size, int asked) {
        return fmt::format("{:5d} {} -1 {} {} -1 -1 {} {} -1 1 1 1 -1 1 -1 -1 -1\n", id, submit, run, size, size,
                           asked);
    };
    const auto good = folder.write("good.swf", "; Version: 2.2\n;   MaxProcs: 128\n" + line(1, 0, 100, 64, 200) +
                                                   line(2, 10, -1, 64, 200) + line(3, 20, 300, 128, 300));
    const auto trace = read_trace(good, {}, calendar);
    REQUIRE(trace);
    CHECK(trace->format == TraceFormat::swf);
    CHECK(trace->left_out == 1);
    CHECK(trace->pools.at("").capacity == 128);
    CHECK(trace->pools.at("").jobs[0].own_limit_s == 200);
    CHECK(trace->pools.at("").jobs[1].timed_out);
    CHECK_THAT(read_trace(folder.write("bad.swf", "; x\n1 2 3\n"), {}, calendar).error().message,
               Contains("bad.swf:2: \"1 2 3\" is no row of a Standard Workload Format file"));
    CHECK_THAT(read_trace(folder.write("none.swf", ";\n"), {}, calendar).error().message,
               Contains("none of its 0 jobs"));
}

TEST_CASE("made-up forecasts kill as many as they say and ask for less than users", "[accounting]") {
    // 20,000 jobs on 64 GPUs at a high load; users ask for one to ten times what they need.
    std::mt19937_64 dice(3);
    TracePool pool;
    pool.capacity = 64;
    double clock_s = 0;
    for (int i = 0; i < 20'000; ++i) {
        TraceJob one;
        clock_s += std::exponential_distribution<>(1.0 / 560)(dice);
        one.submit_s = static_cast<std::int64_t>(clock_s);
        one.run_s = static_cast<std::int64_t>(std::exp(std::normal_distribution<>(8.5, 1)(dice)));
        one.size = 1 << (dice() % 4);
        one.own_limit_s = static_cast<std::int64_t>(one.run_s * std::uniform_real_distribution<>(1, 10)(dice));
        pool.jobs.push_back(one);
    }
    make_up_forecasts(pool.jobs, {.rel_sd = 0.2, .kill_rate = 0.01, .round_up_s = 60, .seed = 1});
    const auto users = run_scenario(pool, LimitKind::users), ours = run_scenario(pool, LimitKind::dlcast);
    CHECK(users.killed == 0);
    CHECK(static_cast<double>(ours.killed) / 20'000 == Approx(0.01).margin(0.003));
    CHECK(ours.asked_over_used < 1.7);
    CHECK(users.asked_over_used > 3);
}
