// SPDX-License-Identifier: GPL-2.0-or-later
// A submission against the budget of its account, as the controller reads it from the cluster file.
#include <catch2/catch.hpp>

#include "predictor/job/budget_check.h"

using namespace dlcast;
using Action = Verdict::Action;
using Catch::Matchers::Contains;
using Catch::Matchers::Equals;

namespace {

constexpr std::int64_t now_s = 1'700'000'000;

// research (100 GPU-hours, 15 free) above vision (50, 20 free) above nlp, which has none; ada may use 30 in vision, of
// which 12 are free; teaching has a budget on a100 and in one partition alone.
Cluster site() {
    Cluster out;
    out.synced_at_s = now_s - 600;
    out.users = {{1001, "ada", "vision"}, {1002, "bob", "nlp"}, {1003, "eve", "teaching"}, {1004, "dan", "free"}};
    out.accounts = {{"vision", "research"}, {"nlp", "vision"}};
    const auto add = [&out](GpuBudget budget, double limit_h, double used_h, double running_h, double pending_h) {
        budget.limit_gpu_h = limit_h, budget.used_gpu_h = used_h;
        budget.running_gpu_h = running_h, budget.pending_gpu_h = pending_h;
        out.budgets.push_back(budget);
    };
    add({.account = "research", .user = "", .partition = "", .gpu = ""}, 100, 70, 5, 10);
    add({.account = "vision", .user = "", .partition = "", .gpu = ""}, 50, 30, 0, 0);
    add({.account = "vision", .user = "ada", .partition = "", .gpu = ""}, 30, 18, 0, 0);
    add({.account = "teaching", .user = "", .partition = "", .gpu = "a100"}, 10, 8, 0, 0);
    add({.account = "teaching", .user = "", .partition = "short", .gpu = ""}, 10, 9, 0, 0);
    return out;
}

// A forecast of `hours` on 4 GPUs.
Decision decision(double hours, const std::string& gres = "a100") {
    Decision out;
    out.workload.model.name = "vgg16";
    out.candidate.job.emplace();
    out.candidate.job->p50_s = hours * 3600;
    out.candidate.job->gpus = 4;
    out.candidate.allocation.partition = "long";
    out.candidate.allocation.gpus_per_node = 4;
    out.placement.gres = gres;
    return out;
}

SubmitRequest by(std::uint32_t uid, const std::string& account = "", const std::string& array = "") {
    SubmitRequest out;
    out.user_id = uid;
    out.account = account;
    out.array = array;
    return out;
}

Verdict told(const Decision& decision, const SubmitRequest& request, BudgetPolicy policy, Mode mode = Mode::enforce) {
    SiteConfig config;
    config.mode = mode;
    config.budget = policy;
    Verdict out;
    out.action = Action::set;
    out.time_limit_min = 60;
    out.message = mode == Mode::shadow ? "" : "dlcast: vgg16";
    check_budget(decision, request, config, site(), now_s, out);
    return out;
}

const GpuBudget* tightest(const std::string& account, const std::string& user, const std::string& gres = "a100",
                          const std::string& partition = "long") {
    static const Cluster cluster = site();
    return tightest_budget(cluster, {0, user, account, ""}, partition, gres);
}

}  // namespace

TEST_CASE("of all budgets above a job the one with the least free binds", "[budget]") {
    CHECK(tightest("research", "bob")->account == "research");
    CHECK(tightest("vision", "bob")->account == "research");  // 15 free above, 20 of its own
    CHECK(tightest("nlp", "bob")->account == "research");     // two accounts up
    CHECK(tightest("vision", "ada")->user == "ada");          // 12 free
    CHECK(tightest("nlp", "ada")->user.empty());              // hers in vision is not hers in nlp
    CHECK(tightest("VISION", "ada")->user == "ada");          // Slurm's accounts know no case
    CHECK(tightest("free", "ada") == nullptr);
    CHECK(tightest("", "ada") == nullptr);
}

TEST_CASE("a budget of one type of GPU or one partition binds there alone", "[budget]") {
    CHECK(tightest("teaching", "eve")->gpu == "a100");
    CHECK(tightest("teaching", "eve", "t4") == nullptr);
    CHECK(tightest("teaching", "eve", "t4", "short")->partition == "short");
    CHECK(tightest("teaching", "eve", "a100", "short")->partition == "short");  // 1 free against 2
}

TEST_CASE("accounts in a circle end the search", "[budget]") {
    Cluster circle = site();
    circle.accounts = {{"vision", "nlp"}, {"nlp", "vision"}};
    CHECK(tightest_budget(circle, {0, "bob", "nlp", ""}, "long", "a100")->account == "vision");
}

TEST_CASE("a job within its budget is told nothing of it, up to the last hour", "[budget]") {
    // research has 100 - 70 - 5 - 10 = 15 GPU-hours free: 4 GPUs for 3.75 h.
    CHECK(told(decision(3.75), by(1002), BudgetPolicy::reject).action == Action::set);
    CHECK(told(decision(3.75), by(1002), BudgetPolicy::reject).message == "dlcast: vgg16");
    CHECK(told(decision(3.76), by(1002), BudgetPolicy::reject).action == Action::reject);
}

TEST_CASE("a warning names account, budget, used, running, pending, free and needed GPU-hours", "[budget]") {
    const Verdict verdict = told(decision(5), by(1002), BudgetPolicy::warn);
    CHECK(verdict.action == Action::set);
    CHECK(verdict.time_limit_min == 60);
    CHECK_THAT(
        verdict.message,
        Equals("dlcast: vgg16\ndlcast: warning: the budget of account research is 100.0 GPU-hours: 70.0 used, 5.0 "
               "left in running jobs, 10.0 pending, 15.0 free (10 min ago); this job needs 20.0 (account nlp is "
               "below research); train less, name another account with --account, or have the budget raised"));
}

TEST_CASE("a refusal says the same, under a fault of its own", "[budget]") {
    const Verdict verdict = told(decision(5), by(1001, "vision"), BudgetPolicy::reject);
    CHECK(verdict.action == Action::reject);
    CHECK(verdict.fault == Verdict::Fault::budget);
    CHECK(verdict.time_limit_min == -1);
    CHECK_THAT(verdict.message, Contains("dlcast: vgg16, 4 x a100 (partition long): the budget of user ada in account "
                                         "vision is 30.0 GPU-hours: 18.0 used") &&
                                    Contains("12.0 free (10 min ago); this job needs 20.0;"));
}

TEST_CASE("who names no account is held against the default one, and who names one against that", "[budget]") {
    CHECK(told(decision(4), by(1001), BudgetPolicy::reject).action == Action::reject);  // vision: 16 > 12
    CHECK(told(decision(4), by(1001, "free"), BudgetPolicy::reject).action == Action::set);
    CHECK(told(decision(4), by(1004), BudgetPolicy::reject).action == Action::set);  // dan's is without a budget
    CHECK(told(decision(400), by(77), BudgetPolicy::reject).action == Action::set);  // nobody knows whose
    CHECK(told(decision(400), by(77, "nlp"), BudgetPolicy::reject).action == Action::reject);
}

TEST_CASE("an array needs the GPU-hours of all its tasks", "[budget]") {
    CHECK(told(decision(0.5), by(1002), BudgetPolicy::reject).action == Action::set);
    CHECK(told(decision(0.5), by(1002, "", "0-6"), BudgetPolicy::reject).action == Action::set);  // 7 x 2 = 14
    const Verdict verdict = told(decision(0.5), by(1002, "", "0-7%2"), BudgetPolicy::reject);     // 8 x 2 = 16
    CHECK(verdict.action == Action::reject);
    CHECK_THAT(verdict.message, Contains("this job needs 16.0 in 8 tasks"));
}

TEST_CASE("policy and mode decide who hears of it", "[budget]") {
    CHECK(told(decision(50), by(1002), BudgetPolicy::ignore).message == "dlcast: vgg16");
    const Verdict advised = told(decision(50), by(1002), BudgetPolicy::reject, Mode::advise);
    CHECK(advised.action == Action::set);
    CHECK_THAT(advised.message, Contains("dlcast: warning: the budget of account research"));
    const Verdict shadow = told(decision(50), by(1002), BudgetPolicy::reject, Mode::shadow);
    CHECK(shadow.action == Action::set);
    CHECK(shadow.message.empty());
    CHECK_THAT(shadow.log, Contains("the budget of account research is 100.0 GPU-hours"));
}

TEST_CASE("a budget that is used up has none free", "[budget]") {
    Cluster cluster = site();
    cluster.budgets[0].used_gpu_h = 120;
    cluster.synced_at_s = 0;  // by hand: nobody knows how old
    SiteConfig config;
    Verdict verdict;
    check_budget(decision(0.1), by(1002), config, cluster, now_s, verdict);
    CHECK_THAT(verdict.message,
               Contains("120.0 used, 5.0 left in running jobs, 10.0 pending, none free; this job needs "));
}

TEST_CASE("a job without a duration, on CPUs or refused already meets no budget", "[budget]") {
    Decision unknown = decision(50);
    unknown.candidate.job.reset();
    CHECK(told(unknown, by(1002), BudgetPolicy::reject).action == Action::set);
    Decision cpu = decision(50);
    cpu.placement.on_cpu = true;
    CHECK(told(cpu, by(1002), BudgetPolicy::reject).action == Action::set);
    Verdict refused;
    refused.action = Action::reject;
    refused.message = "dlcast: no";
    SiteConfig config;
    check_budget(decision(50), by(1002), config, site(), now_s, refused);
    CHECK(refused.message == "dlcast: no");
}
