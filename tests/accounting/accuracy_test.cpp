// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast report` from files: every figure by hand.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "cli/accuracy_html.h"
#include "cli/accuracy_json.h"
#include "cli/accuracy_text.h"
#include "cli/report_assets.h"
#include "predictor/base/json.h"
#include "tests/accounting/zone.h"
#include "tests/scratch_folder.h"

using namespace dlcast;
using Catch::Matchers::Contains;

namespace {

const std::string header =
    "JobID|User|Account|Partition|State|Submit|Start|End|ElapsedRaw|TimelimitRaw|NNodes|ReqTRES|AllocTRES|"
    "AdminComment\n";

struct Row {
    int id = 1;
    std::string user = "ada", partition = "a100", state = "COMPLETED";
    std::int64_t elapsed_s = 3600, limit_min = 120;
    int gpus = 1, nodes = 1;
    std::string comment;
    std::int64_t end_s = 1'773'100'000;  // 2026-03-09T23:46:40 UTC, a Monday
};

std::string line(const Row& r) {
    return fmt::format("{}|{}|lab|{}|{}|{}|{}|{}|{}|{}|{}|gres/gpu={}|gres/gpu={}|{}\n", r.id, r.user, r.partition,
                       r.state, r.end_s - r.elapsed_s - 60, r.end_s - r.elapsed_s, r.end_s, r.elapsed_s, r.limit_min,
                       r.nodes, r.gpus, r.gpus, r.comment);
}

std::string forecast(int p50_s, int p95_s, int limit_s, const std::string& more = "",
                     const std::string& model = "vgg16") {
    return fmt::format(
        R"({{"dlcast":{{"v":1,"model":"{}","gpus":1,"partition":"a100","p50_s":{},"p95_s":{},"limit_s":{}{}}}}})",
        model, p50_s, p95_s, limit_s, more);
}

struct Report {
    ScratchFolder folder;
    Zone zone{"UTC0"};
    Calendar calendar;
    AccountingOptions options;
    std::string rows;

    Report() {
        options.begin = "2026-03-01";
        options.end = options.at = "2026-04-01";
    }
    void add(const Row& row) { rows += line(row); }
    AccuracyAnswer ask(double kill_rate = 0.0, const Cluster* cluster = nullptr) {
        options.sacct_file = folder.write("sacct.txt", header + rows);
        auto answer = ask_accuracy(options, cluster, kill_rate, calendar);
        INFO((answer ? "" : answer.error().message));
        REQUIRE(answer);
        return std::move(*answer);
    }
};

}  // namespace

TEST_CASE("only jobs that ended as forecast are judged; the others are told apart", "[accounting]") {
    Report r;
    const std::string f = forecast(3600, 5400, 7200);
    int id = 0;
    for (const char* state :
         {"COMPLETED", "TIMEOUT", "FAILED", "CANCELLED by 1000", "PREEMPTED", "NODE_FAIL", "OUT_OF_MEMORY", "DEADLINE"})
        r.add({.id = ++id, .state = state, .comment = f});
    r.add({.id = 20, .state = "REQUEUED", .comment = f});
    r.add({.id = 20, .comment = f});                     // went on from a checkpoint
    r.add({.id = 21, .gpus = 2, .comment = f});          // other GPUs
    r.add({.id = 22, .partition = "t4", .comment = f});  // elsewhere
    r.add({.id = 23, .nodes = 2, .comment = forecast(3600, 5400, 7200, R"(,"nodes":1)")});
    r.add({.id = 24, .comment = "a note"});
    r.add({.id = 25, .comment = f.substr(0, 60)});
    r.add({.id = 26, .gpus = 0, .comment = f});               // no GPU: not ours
    r.add({.id = 27, .comment = f, .end_s = 1'800'000'000});  // after the window
    const RunCounts c = r.ask().accuracy.counts;
    CHECK(c.ended == 15);
    CHECK(c.without_forecast == 2);
    CHECK(c.foreign_comment == 1);
    CHECK(c.broken_forecast == 1);
    CHECK(c.judged == 2);
    CHECK(c.interrupted == 1);
    CHECK(c.gpus_changed == 1);
    CHECK(c.moved == 1);
    CHECK(c.nodes_changed == 1);
    for (const RunState state : {RunState::timeout, RunState::failed, RunState::cancelled, RunState::preempted,
                                 RunState::node_fail, RunState::out_of_memory, RunState::requeued, RunState::other})
        CHECK(c.by_state[static_cast<std::size_t>(state)] == 1);
}

TEST_CASE("jobs without GPUs are not judged, and the report says how many", "[accounting]") {
    Report r;
    r.add({.id = 1, .gpus = 0, .comment = forecast(3000, 4000, 7200)});
    r.add({.id = 2, .gpus = 0});
    const auto answer = r.ask();
    CHECK(answer.accuracy.counts.ended == 0);
    CHECK_THAT(accuracy_text(answer, r.calendar), Contains("left out: 2 jobs without GPUs, 1 of them with a forecast"));
    CHECK(accuracy_json(answer, r.calendar).find("skipped")->find("cpu_jobs")->as_integer() == 2);
}

TEST_CASE("errors, coverage and limits are those of the arithmetic", "[accounting]") {
    Report r;
    // Forecast 3600 s, 95 % 5400 s; all on one GPU; dlcast's limit 7200 s.
    r.add({.id = 1, .elapsed_s = 3600, .limit_min = 120, .comment = forecast(3600, 5400, 7200)});  // error 0
    r.add({.id = 2, .elapsed_s = 4500, .limit_min = 120, .comment = forecast(3600, 5400, 7200)});  // error 20 %
    r.add({.id = 3,
           .elapsed_s = 6000,
           .limit_min = 120,
           .comment = forecast(3600, 5400, 7200)});  // error 40 %, above 95 %
    r.add({.id = 4, .state = "TIMEOUT", .elapsed_s = 7210, .limit_min = 120, .comment = forecast(3600, 5400, 7200)});
    r.add({.id = 5,
           .user = "bob",
           .elapsed_s = 1800,
           .limit_min = 600,
           .comment = forecast(3600, 5400, 7200, "", "bert")});
    const auto answer = r.ask(0.5);
    const Accuracy& a = answer.accuracy;
    const auto e = a.total.errors.figures();
    CHECK(e.jobs == 4);
    CHECK(e.mape_pct == Approx((0 + 20 + 40 + 100) / 4.0));
    CHECK(e.median_ape_pct == Approx(30));
    CHECK(e.median_ratio == Approx((1.0 + 1.25) / 2));
    CHECK(e.covered_jobs == 5);
    CHECK(e.below_p50 == Approx(2 / 5.0));
    CHECK(e.below_p95 == Approx(3 / 5.0));
    CHECK(a.as_run.jobs == 5);
    CHECK(a.as_run.killed == 1);
    CHECK(a.as_run.asked_gpu_h == Approx(4 * 2 + 10));
    CHECK(a.as_run.used_gpu_h == Approx((3600 + 4500 + 6000 + 7200 + 1800) / 3600.0));  // the killed one used its limit
    CHECK(a.ours.jobs == 4);  // job 5 had its user's ten hours
    CHECK(a.if_ours.asked_gpu_h == Approx(5 * 2));
    CHECK(a.if_ours.killed == 1);
    CHECK(a.by_user.size() == 2);
    CHECK(a.by_model.size() == 2);
    const Value json = accuracy_json(answer, r.calendar);
    CHECK(json.find("contract")->find("actual_kill_rate")->as_number() == Approx(0.25));
    CHECK(json.find("contract")->find("holds")->as_bool());
    CHECK(json.find("by")->find("model")->as_array()[0].find("name")->as_string() == "bert");
    CHECK(json.find("weeks")->as_array()[0].find("week_of")->as_string() == "2026-03-09");
    CHECK_THAT(accuracy_text(answer, r.calendar), Contains("median error 30.0 %"));
}

TEST_CASE("without dlcast a job has the limit its user asked for, else its partition's", "[accounting]") {
    Report r;
    Cluster cluster;
    cluster.partitions.emplace_back();
    cluster.partitions.back().name = "a100";
    cluster.partitions.back().max_time_min = 600;
    const auto f = [](const char* asked) { return forecast(3600, 5400, 7200, fmt::format(R"(,"asked_s":{})", asked)); };
    r.add({.id = 1, .comment = f("1800")});                     // overwritten: would have been killed
    r.add({.id = 2, .comment = f("null")});                     // left open: the partition's ten hours
    r.add({.id = 3, .limit_min = 180, .comment = f("10800")});  // the user's, kept
    r.add(
        {.id = 4, .state = "TIMEOUT", .elapsed_s = 7200, .comment = f("36000")});  // how long it had gone on, who knows
    r.add({.id = 5, .limit_min = 300, .comment = f("3600")});                      // raised by somebody afterwards
    const auto with = r.ask(0, &cluster).accuracy;
    CHECK(with.if_users_own.killed == 1);
    CHECK(with.if_users_own.unknown == 1);
    CHECK(with.if_users_own.jobs == 4);
    CHECK(with.if_users_own.asked_gpu_h == Approx(0.5 + 10 + 3 + 1));
    CHECK(with.if_users_own.used_gpu_h == Approx(0.5 + 1 + 1 + 1));
    CHECK(with.counts.limit_changed == 1);
    CHECK(r.ask().accuracy.if_users_own.unknown == 2);  // without a cluster file, job 2 too
}

TEST_CASE("in shadow mode the report says what enforcing would have done", "[accounting]") {
    Report r;
    r.add({.id = 1, .limit_min = 600, .comment = forecast(3600, 5400, 7200)});                     // 8 h saved
    r.add({.id = 2, .elapsed_s = 9000, .limit_min = 600, .comment = forecast(3600, 5400, 7200)});  // killed
    r.add({.id = 3, .state = "TIMEOUT", .elapsed_s = 3600, .limit_min = 60, .comment = forecast(3600, 5400, 7200)});
    r.add({.id = 4, .limit_min = 120, .comment = forecast(3600, 5400, 7200)});  // dlcast's already
    const Rollout out = r.ask().accuracy.rollout;
    CHECK(out.jobs == 3);
    CHECK(out.would_be_killed == 1);
    CHECK(out.would_have_longer == 1);
    CHECK(out.saved_gpu_h == Approx(16));
    CHECK(out.added_gpu_h == Approx(1));
}

TEST_CASE("of limits that no job had there is no kill rate", "[accounting]") {
    Report r;
    r.add({.id = 1, .limit_min = 600, .comment = forecast(3600, 5400, 7200)});
    const Value json = accuracy_json(r.ask(), r.calendar);
    CHECK(json.find("limits")->find("set_by_dlcast")->find("kill_rate")->is_null());
    CHECK(json.find("limits")->find("as_run")->find("kill_rate")->as_number() == 0.0);
}

TEST_CASE("the page holds the figures, the library, and no way out of its script", "[accounting]") {
    Report r;
    r.add({.id = 1, .comment = forecast(3600, 5400, 7200, "", "</script><b>x")});
    const auto answer = r.ask();
    const auto page = accuracy_html(accuracy_json(answer, r.calendar));
    if (*chart_library == '\0') {
        REQUIRE_FALSE(page);
        CHECK_THAT(page.error().message, Contains("libjs-chart.js"));
        return;
    }
    REQUIRE(page);
    CHECK_THAT(*page, Contains("Chart.js"));
    CHECK_THAT(*page, Contains("\\u003c/script>"));
    CHECK_THAT(*page, !Contains("</script><b>"));
    CHECK_THAT(*page, !Contains("http-equiv") && !Contains("<link") && !Contains("src="));
}
