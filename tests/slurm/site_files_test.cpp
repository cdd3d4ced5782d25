// SPDX-License-Identifier: GPL-2.0-or-later
// What stands in the site's files, on a job that goes through the loaded plugin: budgets of the cluster file, margins
// of the kill rate.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <fstream>
#include <sstream>

#include "tests/slurm/site.h"
#include "tests/slurm/slurm_host.h"

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using slurm_host::duplicate;
using slurm_host::Job;
using slurm_host::JobSubmitPlugin;

namespace {

// An hour of GPUs that daemon's default account vision shares with research above it.
const char* const budgets = R"(
[[user]]
uid = 1
name = "daemon"
default_account = "vision"
[[account]]
name = "vision"
parent = "research"
[[budget]]
account = "research"
limit_gpu_h = 10
used_gpu_h = 6
running_gpu_h = 2
pending_gpu_h = 1
)";

void add_budgets(const Site& site) {
    std::stringstream cluster;
    cluster << std::ifstream(site.config().substr(0, site.config().rfind('/')) + "/cluster.toml").rdbuf();
    site.write("cluster.toml", cluster.str() + budgets);
}

void ask_for(Job& job, const Site& site, int epochs) {
    job.set_spank_env(
        {"DLCAST_MODEL=" + slurm_host::payload_of(site.write(
                               "vgg16.json", R"({"model": "vgg16", "dataset": "imagenet-1k", "training": {"epochs": )" +
                                                 std::to_string(epochs) + R"(, "batch_size": 32}})"))});
    job->tres_per_node = duplicate("gres:gpu:a100:4");
    job->user_id = 1;
}

std::ptrdiff_t lines_about_margins() {
    const auto log = slurm_host::take_log();
    return std::count_if(log.begin(), log.end(), [](const std::string& line) {
        return line.find("margins.toml") != std::string::npos &&
               line.find("limits are quantile x margin_factor") != std::string::npos;
    });
}

std::string margins(double deviations) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return "kill_rate = 0.01\ncalibrated_at_s = " +
           std::to_string(std::chrono::duration_cast<std::chrono::seconds>(now).count()) +
           "\n[[margin]]\njobs = 5000\ndeviations = " + std::to_string(deviations) + "\n";
}

}  // namespace

TEST_CASE("a job over its budget is refused in Slurm's words for the accounting's limits", "[slurm]") {
    const Site site("[budget]\npolicy = \"reject\"\n");
    add_budgets(site);
    JobSubmitPlugin plugin(site.config(), no_module);
    Job job;
    ask_for(job, site, 100);
    const auto answer = plugin.submit(job);
    CHECK(answer.rc == ESLURM_ACCOUNTING_POLICY);
    CHECK_THAT(answer.message, StartsWith("dlcast: vgg16, 4 x a100 (partition a100): the budget of account research is "
                                          "10.0 GPU-hours: 6.0 used, 2.0 left in running jobs, 1.0 pending, 1.0 free; "
                                          "this job needs ") &&
                                   Contains("(account vision is below research)"));
    CHECK(job->time_limit == NO_VAL);
    CHECK(job->partition == nullptr);
    CHECK(job->admin_comment == nullptr);
    CHECK(job.spank_env().empty());

    Job elsewhere;  // an account without a budget
    ask_for(elsewhere, site, 100);
    elsewhere->account = duplicate("theory");
    CHECK(plugin.submit(elsewhere).rc == SLURM_SUCCESS);
    CHECK(elsewhere->time_limit != NO_VAL);
}

TEST_CASE("with the policy to warn it goes on, with a line for its user", "[slurm]") {
    const auto [policy, warns] = GENERATE(table<std::string, bool>({{"warn", true}, {"ignore", false}}));
    const Site site("[budget]\npolicy = \"" + policy + "\"\n");
    add_budgets(site);
    JobSubmitPlugin plugin(site.config(), no_module);
    Job job;
    ask_for(job, site, 100);
    const auto answer = plugin.submit(job);
    CHECK(answer.rc == SLURM_SUCCESS);
    CHECK(job->time_limit != NO_VAL);
    CHECK((answer.message.find("\ndlcast: warning: the budget of account research") != std::string::npos) == warns);
}

TEST_CASE("a new cluster file's budgets are taken up by a plugin that runs", "[slurm]") {
    const Site site("[budget]\npolicy = \"reject\"\n");
    JobSubmitPlugin plugin(site.config(), no_module);
    const auto rc = [&] {
        Job job;
        ask_for(job, site, 100);
        return plugin.submit(job).rc;
    };
    CHECK(rc() == SLURM_SUCCESS);
    add_budgets(site);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    int last = SLURM_SUCCESS;
    while (last == SLURM_SUCCESS && std::chrono::steady_clock::now() < end) last = rc();
    CHECK(last == ESLURM_ACCOUNTING_POLICY);
}

TEST_CASE("limits follow the margins of the kill rate, and margin_factor where there are none", "[slurm]") {
    const Site site("[time_limit]\nkill_rate = 0.01\nround_up_min = 1\n");
    const auto submit = [&site](JobSubmitPlugin& plugin, std::string& message) {
        Job job;
        ask_for(job, site, 20);
        message = plugin.submit(job).message;
        return static_cast<double>(job->time_limit);
    };
    std::string message;
    slurm_host::take_log();
    double without = 0.0;
    {
        JobSubmitPlugin plugin(site.config(), no_module);
        CHECK(lines_about_margins() == 1);
        Job job;
        ask_for(job, site, 20);
        slurm_host::take_log();
        CHECK_THAT(plugin.submit(job).message, Contains("(95 %)"));
        without = static_cast<double>(job->time_limit);
        CHECK(lines_about_margins() == 0);  // told before
    }
    site.write("margins.toml", margins(2.0));
    JobSubmitPlugin plugin(site.config(), no_module);
    const double two = submit(plugin, message);
    CHECK_THAT(message, Contains("(kill rate 1 %)"));
    site.write("margins.toml", margins(4.0));
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    double four = two;
    while (four == two && std::chrono::steady_clock::now() < end) four = submit(plugin, message);
    // Limits are m e^(2 s) and m e^(4 s), without margins 1.2 m e^(1.6449 s): so with x = four / two = e^(2 s),
    // without = 1.2 two x^((1.6449 - 2) / 2).
    CHECK(four > two);
    CHECK(without == Approx(1.2 * two * std::pow(four / two, (1.6449 - 2) / 2)).epsilon(0.01));
}
