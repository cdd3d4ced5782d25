// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/accounting/gpu_hours.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "predictor/accounting/budget.h"
#include "predictor/accounting/comment.h"
#include "predictor/accounting/tres.h"
#include "tests/accounting/zone.h"

using namespace dlcast;

namespace {

constexpr std::int64_t hour = 3600, day = 86'400;
constexpr std::int64_t begin = 20'000 * day;  // a midnight in UTC, as all tests of sums run in

JobRun ended(std::int64_t start_s, std::int64_t elapsed_s, int gpus) {
    JobRun run;
    run.state = RunState::completed;
    run.gpus = gpus;
    run.start_s = start_s;
    run.end_s = start_s + elapsed_s;
    run.elapsed_s = elapsed_s;
    return run;
}

GpuHours total(const GpuHoursSums& sums) {
    GpuHours out;
    for (const auto& [key, cell] : sums.cells()) out += cell;
    return out;
}

}  // namespace

TEST_CASE("hours left of a log-normal run time are those of the runs that are still going", "[accounting]") {
    // ln T has median ln 3600 and sd 0.2: p95 = 3600 e^(1.64485 x 0.2) = 5002.4 s.
    const double p95_s = 3600 * std::exp(1.6448536269514722 * 0.2);
    const Hours fresh = hours_left(3600, p95_s, 0, -1);
    CHECK(fresh.p50 == Approx(1.0));
    CHECK(fresh.p95 == Approx(p95_s / 3600));
    // At t = median half of the runs are over; of the others half end by the 75 % quantile, 5 % after the 97.5 % one.
    const Hours half = hours_left(3600, p95_s, 3600, -1);
    CHECK(half.p50 == Approx(std::exp(0.6744897501960817 * 0.2) - 1).epsilon(1e-9));
    CHECK(half.p95 == Approx(std::exp(1.959963984540054 * 0.2) - 1).epsilon(1e-9));
    // Slurm ends it at its limit.
    CHECK(hours_left(3600, p95_s, 3600, 4000).p95 == Approx(400.0 / 3600));
    CHECK(hours_left(3600, p95_s, 5000, 4000).p50 == 0.0);
    // A forecast without spread, outlived.
    CHECK(hours_left(3600, 3600, 1800, -1).p95 == Approx(0.5));
    CHECK(hours_left(3600, 3600, 7200, -1).p50 == 0.0);
}

TEST_CASE("only the part of a run inside the window is spent, each day its share", "[accounting]") {
    const Zone zone("UTC0");
    Calendar calendar;
    GpuHoursSums sums(begin, begin + 2 * day, begin + 2 * day);
    sums.add(ended(begin - 2 * hour, 3 * hour, 4), calendar);         // 1 h of it: 4 GPU-hours on day 0
    sums.add(ended(begin + day - hour, 3 * hour, 2), calendar);       // 1 h on day 0, 2 h on day 1
    sums.add(ended(begin + 2 * day - 1800, 10 * hour, 8), calendar);  // half an hour on day 1
    sums.add(ended(begin - 10 * hour, 5 * hour, 8), calendar);        // before
    JobRun suspended = ended(begin, 4 * hour, 1);                     // lasted 4 h, ran 1 h
    suspended.elapsed_s = hour;
    sums.add(suspended, calendar);
    CHECK(total(sums).spent.gpu_h == Approx(4 + 6 + 4 + 1));
    CHECK(total(sums).finished == 4);
    REQUIRE(sums.days().size() == 2);
    CHECK(sums.days().at(begin).spent == Approx(4 + 2 + 1));
    CHECK(sums.days().at(begin + day).spent == Approx(4 + 4));
}

TEST_CASE("jobs with a forecast count by it, others by their limit, apart", "[accounting]") {
    const Zone zone("UTC0");
    Calendar calendar;
    const std::int64_t now = begin + 12 * hour;
    GpuHoursSums sums(begin, now, now);
    JobRun pending;
    pending.state = RunState::pending;
    pending.gpus = 2;
    pending.tasks = 10;
    pending.billing = 16;
    pending.comment = CommentKind::forecast;
    pending.p50_s = hour, pending.p95_s = 2 * hour;
    pending.limit_s = 3 * hour;
    sums.add(pending, calendar);  // 10 x 2 x 1 h, 10 x 2 x 2 h
    JobRun running = pending;
    running.state = RunState::running;
    running.tasks = 1;
    running.start_s = now - hour;
    running.elapsed_s = hour;
    running.p95_s = hour;  // no spread: nothing is left after the median
    sums.add(running, calendar);
    JobRun bare;
    bare.state = RunState::running;
    bare.gpus = 4;
    bare.start_s = now - 2 * hour;
    bare.elapsed_s = 2 * hour;
    bare.limit_s = 5 * hour;
    sums.add(bare, calendar);  // 4 x 3 h left by its limit
    bare.limit_s = no_limit;
    sums.add(bare, calendar);
    const GpuHours all = total(sums);
    CHECK(all.pending == 10);
    CHECK(all.pending_p50.gpu_h == Approx(20));
    CHECK(all.pending_p95.gpu_h == Approx(40));
    CHECK(all.pending_p50.billing_h == Approx(160));
    CHECK(all.left_p50.gpu_h == 0);
    CHECK(all.running == 3);
    CHECK(all.running_spent.gpu_h == Approx(2 + 8 + 8));
    CHECK(all.left_limit.gpu_h == Approx(12));
    CHECK(all.running_by_limit == 1);
    CHECK(all.running_unknown == 1);
    // A pending job without a start in sight is on no day.
    CHECK(sums.days().at(begin).pending == 0);
}

TEST_CASE("a budget of an account holds its sub-accounts and says when it is used up", "[accounting]") {
    const Zone zone("UTC0");
    Calendar calendar;
    Names names;
    const std::int64_t now = begin + 10 * day;
    GpuHoursSums sums(begin, now, now);
    const auto add = [&](const char* account, const char* user, const char* gpu, int gpus) {
        JobRun run = ended(begin, 10 * hour, gpus);
        run.account = names.id(account), run.user = names.id(user), run.gpu = names.id(gpu);
        sums.add(run, calendar);
    };
    add("lab", "ada", "a100", 2);      // 20 h
    add("lab \"b\"", "bob", "t4", 1);  // 10 h
    add("other", "ada", "a100", 8);
    const std::vector<BudgetRow> rows{{"root", "", "", "", "1", {}},
                                      {"lab", "root", "", "", "1", {{"gres/gpu", 100}, {"gres/gpu:a100", 20}}},
                                      {"lab \"b\"", "lab", "", "", "1", {}},
                                      {"lab", "", "ada", "", "1", {{"gres/gpu", 50}}}};
    const auto budgets = budgets_of(rows, {{"lab", "", "", {}, {{"gres/gpu", 40}}}}, sums, names, 10, now);
    REQUIRE(budgets.size() == 3);
    CHECK(budgets[0].used_h == 40);  // what Slurm says
    CHECK(budgets[0].used_by_slurm);
    CHECK(budgets[0].per_day_h == Approx(3));          // 30 h in 10 days
    CHECK(*budgets[0].exhausted_s == now + 20 * day);  // 60 h at 3 h a day
    CHECK(budgets[1].used_h == Approx(20));            // a100 alone
    CHECK(*budgets[1].exhausted_s == now);             // all of it
    CHECK(budgets[2].used_h == Approx(20));            // ada in lab, not in other
    CHECK(*budgets[2].exhausted_s == now + 15 * day);  // 30 h at 2 h a day
}

TEST_CASE("GPUs are read from TRES once, however they are told", "[accounting]") {
    const auto is = [](const char* list, double gpus, const char* type) {
        const JobTres tres = parse_job_tres(list);
        CHECK(tres.gpus == gpus);
        CHECK(tres.gpu == type);
    };
    is("billing=8,cpu=1,gres/gpu:a100=2,gres/gpu=2,mem=20000M,node=1", 2, "a100");
    is("cpu=1,gres/gpu=4", 4, "");
    is("gres/gpu:t4=1,gres/gpu:a100=2", 3, "t4+a100");
    is("cpu=1,mem=2G,node=1", 0, "");
    is("", 0, "");
    is("gres/gpu=x,=3,,gres/gpu", 0, "");
    CHECK(parse_job_tres("billing=12,node=3").billing == 12);
    CHECK(parse_job_tres("billing=12,node=3").nodes == 3);
}

TEST_CASE("a forecast is found in any comment, and what is none is told apart", "[accounting]") {
    const auto read = [](std::string_view text) {
        Names names;
        JobRun run;
        read_comment(text, names, run);
        return run;
    };
    const std::string ours =
        R"({"dlcast":{"v":1,"id":"a","model":"vgg16 \"x}\"","gpus":4,"p50_s":100,"p95_s":150,"limit_s":900,"asked_s":0}})";
    CHECK(read(ours).comment == CommentKind::forecast);
    CHECK(read(ours).p95_s == 150);
    CHECK(read(ours).forecast_gpus == 4);
    CHECK(read(ours).forecast_limit_s == 900);
    CHECK(read(ours).asked_s == no_limit);
    CHECK(read("ticket 42 | see mail\n" + ours).comment == CommentKind::forecast);
    CHECK(read(R"({"a":{"b":1},"dlcast": {"v": 1, "p50_s": 7}})").p95_s == 7);
    // The plugin adds at the end: the last one counts.
    CHECK(read(R"({"dlcast":{"v":1,"p50_s":1}} {"dlcast":{"v":1,"p50_s":2}})").p50_s == 2);
    CHECK(read("").comment == CommentKind::none);
    CHECK(read("  ").comment == CommentKind::none);
    CHECK(read("ticket 42").comment == CommentKind::foreign);
    CHECK(read(R"({"note":"dlcast was here"})").comment == CommentKind::foreign);
    for (std::size_t cut = 10; cut < ours.size() - 1; ++cut)  // the last brace is not needed
        CHECK(read(ours.substr(0, cut)).comment == CommentKind::broken);
    CHECK(read(R"({"dlcast":{"v":2,"p50_s":100}})").comment == CommentKind::broken);
    CHECK(read(R"({"dlcast":{"v":1,"p50_s":null}})").comment == CommentKind::broken);
    CHECK(read(R"({"dlcast":{"v":1,"p50_s":1e999}})").comment == CommentKind::broken);
    CHECK(read(R"({"dlcast":17})").comment == CommentKind::broken);
}

TEST_CASE("what Slurm calls a state is told apart", "[accounting]") {
    CHECK(parse_run_state("CANCELLED by 1000") == RunState::cancelled);
    CHECK(parse_run_state("COMPLETED") == RunState::completed);
    CHECK(parse_run_state("OUT_OF_MEMORY") == RunState::out_of_memory);
    CHECK(parse_run_state("DEADLINE") == RunState::other);
    JobRun run = ended(begin, hour, 4);
    run.comment = CommentKind::forecast;
    run.forecast_gpus = 4;
    CHECK(is_judged(run));
    run.gpus = 2;
    CHECK(change_of(run) == Change::gpus);
    CHECK_FALSE(is_judged(run));
    run.gpus = 4, run.nodes = 2, run.forecast_nodes = 1;
    CHECK(change_of(run) == Change::nodes);
    run.nodes = 1, run.partition = 1, run.forecast_partition = 2;
    CHECK(change_of(run) == Change::partition);
    run.partition = 2, run.interrupted_before = true;
    CHECK(change_of(run) == Change::none);
    CHECK_FALSE(is_judged(run));
    run.interrupted_before = false, run.state = RunState::failed;
    CHECK_FALSE(is_judged(run));
}
