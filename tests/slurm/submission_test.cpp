// SPDX-License-Identifier: GPL-2.0-or-later
// A submission through the loaded plugin: what is written into the job, what is left alone, and for how long it may be
// kept up.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/slurm/site.h"
#include "tests/slurm/slurm_host.h"

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using slurm_host::duplicate;
using slurm_host::Job;
using slurm_host::JobSubmitPlugin;

namespace {

// As spank_dlcast.so makes it from a user's file.
std::string vgg16_payload(const Site& site, int epochs) {
    return "DLCAST_MODEL=" +
           slurm_host::payload_of(
               site.write("vgg16.json", R"({"model": "vgg16", "dataset": "imagenet-1k", "training": {"epochs": )" +
                                            std::to_string(epochs) + R"(, "batch_size": 32}})"));
}

void ask_for(Job& job, const std::string& payload, const std::string& gpus) {
    job.set_spank_env({payload});
    job->tres_per_node = duplicate("gres:gpu:" + gpus);
}

std::string text(const char* field) { return field ? field : ""; }

#ifdef __SANITIZE_ADDRESS__
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

long resident_kib() {
    std::ifstream statm("/proc/self/statm");
    long total = 0, resident = 0;
    statm >> total >> resident;
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

}  // namespace

TEST_CASE("a job without limit and partition gets both, a record and a line for the user", "[slurm]") {
    const Site site;
    JobSubmitPlugin plugin(site.config(), no_module);
    Job job;
    ask_for(job, vgg16_payload(site, 2), "a100:4");
    const auto answer = plugin.submit(job);
    CHECK(answer.rc == SLURM_SUCCESS);
    CHECK_THAT(answer.message, StartsWith("dlcast: vgg16, 4 x a100 (partition a100)"));
    CHECK(text(job->partition) == "a100");
    REQUIRE(job->time_limit != NO_VAL);
    CHECK(job->time_limit % 15 == 0);  // round_up_min
    CHECK(job->time_limit <= 10080);   // MaxTime of the partition
    CHECK_THAT(text(job->admin_comment), StartsWith(R"({"dlcast":{"v":1,)") && Contains(R"("by":"analytic")"));
}

TEST_CASE("more epochs take longer, and a t4 takes longer than an a100", "[slurm]") {
    const Site site;
    JobSubmitPlugin plugin(site.config(), no_module);
    const auto limit = [&](int epochs, const std::string& gpus) {
        Job job;
        ask_for(job, vgg16_payload(site, epochs), gpus);
        plugin.submit(job);
        return job->time_limit;
    };
    const auto short_job = limit(2, "a100:4");
    CHECK(limit(20, "a100:4") > short_job);
    CHECK(limit(2, "t4:4") > short_job);
}

TEST_CASE("what the user asked for stays: limit, partition, and the comment that is there", "[slurm]") {
    const Site site;
    JobSubmitPlugin plugin(site.config(), no_module);
    Job job;
    ask_for(job, vgg16_payload(site, 2), "v100:2");
    job->time_limit = 77;
    job->partition = duplicate("v100");
    job->admin_comment = duplicate("ticket 12");
    plugin.submit(job);
    CHECK(job->time_limit == 77);
    CHECK(text(job->partition) == "v100");
    CHECK_THAT(text(job->admin_comment), StartsWith("ticket 12") && Contains(R"({"dlcast":{)"));
}

TEST_CASE("shadow and advise change neither limit nor partition", "[slurm]") {
    const auto [mode, talks] = GENERATE(table<std::string, bool>({{"shadow", false}, {"advise", true}}));
    const Site site("mode = \"" + mode + "\"");
    JobSubmitPlugin plugin(site.config(), no_module);
    Job job;
    ask_for(job, vgg16_payload(site, 2), "a100:4");
    const auto answer = plugin.submit(job);
    CHECK(job->time_limit == NO_VAL);
    CHECK(job->partition == nullptr);
    CHECK_THAT(text(job->admin_comment), Contains(R"({"dlcast":{)"));
    CHECK(answer.message.empty() != talks);
}

TEST_CASE("a job without the option is untouched, byte for byte", "[slurm]") {
    const Site site;
    JobSubmitPlugin plugin(site.config(), no_module);
    Job job;
    job.set_spank_env({"OTHER=1"});
    job->tres_per_node = duplicate("gres:gpu:a100:4");
    job_desc_msg_t before;
    std::memcpy(&before, &*job, sizeof before);
    const auto answer = plugin.submit(job);
    CHECK(answer.rc == SLURM_SUCCESS);
    CHECK(answer.message.empty());
    CHECK(std::memcmp(&before, &*job, sizeof before) == 0);
}

TEST_CASE("a change of a job passes", "[slurm]") {
    const Site site;
    JobSubmitPlugin plugin(site.config(), no_module);
    Job job;
    job->time_limit = 5;
    CHECK(plugin.modify(job) == SLURM_SUCCESS);
    CHECK(job->time_limit == 5);
    CHECK(job->partition == nullptr);
}

TEST_CASE("with a broken configuration the plugin starts, says so once, and jobs pass", "[slurm]") {
    const Site site("= broken");
    slurm_host::take_log();
    JobSubmitPlugin plugin(site.config(), no_module);
    std::size_t lines_about_it = 0;
    for (int i = 0; i < 3; ++i) {
        Job job;
        ask_for(job, R"(DLCAST_MODEL={"model":"vgg16","training":{"steps":5}})", "a100:4");
        CHECK(plugin.submit(job).rc == SLURM_SUCCESS);
        CHECK(job->time_limit == NO_VAL);
        CHECK(job->admin_comment == nullptr);
    }
    for (const std::string& line : slurm_host::take_log())
        lines_about_it += line.find("dlcast.toml:1:") != std::string::npos;
    CHECK(lines_about_it == 1);
}

TEST_CASE("after fini the plugin can be started again", "[slurm]") {
    const Site site;
    for (int i = 0; i < 2; ++i) {
        JobSubmitPlugin plugin(site.config(), no_module);
        Job job;
        ask_for(job, vgg16_payload(site, 2), "a100:1");
        plugin.submit(job);
        CHECK(job->time_limit != NO_VAL);
    }
}

TEST_CASE("eight threads get the answers that one gets", "[slurm]") {
    // On a busy machine a thread may rest for longer than the usual 50 ms, and then its job rightly gets no forecast.
    const Site site("deadline_ms = 10000");
    JobSubmitPlugin plugin(site.config(), no_module);
    const std::string payload = vgg16_payload(site, 2);
    const auto submit = [&] {
        Job job;
        ask_for(job, payload, "a100:4");
        plugin.submit(job);
        return std::to_string(job->time_limit) + text(job->partition);
    };
    const std::string expected = submit();
    REQUIRE_THAT(expected, Contains("a100"));
    std::vector<int> wrong(8, 0);
    std::vector<std::thread> threads;
    for (int& count : wrong) {
        threads.emplace_back([&] {
            for (int i = 0; i < 250; ++i) count += submit() != expected;
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == std::vector<int>(8, 0));
}

// 20,000 submissions that kept 1 KiB each would add 20 MiB; 2 MiB is room for the allocator's own habits.
TEST_CASE("20,000 submissions do not grow the process", "[slurm]") {
    if (sanitized) {
        std::puts("SKIPPED: AddressSanitizer keeps freed memory for a while; its leak check looks at the end instead");
        return;
    }
    // With LibTorch where it is built, as in slurmctld.
    const bool has_module = std::filesystem::exists(built_module());
    const Site site;
    JobSubmitPlugin plugin(site.config(), has_module ? built_module() : no_module);
    const std::string payload = vgg16_payload(site, 2);
    const auto submit = [&](int times) {
        std::string comment;
        for (int i = 0; i < times; ++i) {
            Job job;
            ask_for(job, payload, "a100:4");
            plugin.submit(job);
            comment = text(job->admin_comment);
        }
        slurm_host::take_log();
        return comment;
    };
    CHECK_THAT(submit(2000), Contains(has_module ? R"("by":"torch")" : R"("by":"analytic")"));
    const long before = resident_kib();
    submit(20000);
    CHECK(resident_kib() - before < 2048);
}
