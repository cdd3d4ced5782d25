// SPDX-License-Identifier: GPL-2.0-or-later
// Files that change and models that take too long while the loaded plugin serves submissions.
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <set>
#include <thread>

#include "tests/slurm/site.h"
#include "tests/slurm/slurm_host.h"

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using slurm_host::duplicate;
using slurm_host::Job;
using slurm_host::JobSubmitPlugin;

namespace {

constexpr const char* vgg16 = R"({"model":"vgg16","dataset":"imagenet-1k","training":{"epochs":200,"batch_size":32}})";

std::uint32_t limit_of(JobSubmitPlugin& plugin) {
    Job job;
    job.set_spank_env({std::string("DLCAST_MODEL=") + vgg16});
    job->tres_per_node = duplicate("gres:gpu:a100:1");
    plugin.submit(job);
    return job->time_limit;
}

// One partition, whose MaxTime binds the forecast.
void set_max_time(const Site& site, int minutes) {
    site.write("cluster.toml",
               "[cluster]\nname = \"test\"\n[[partition]]\nname = \"a100\"\nmax_time_min = " + std::to_string(minutes) +
                   "\n[[partition.nodes]]\ngpu = \"a100\"\ngpus_per_node = 4\nnodes = 2\n");
}

// The plugin looks for changes once a second.
bool comes_to(const std::atomic<std::uint32_t>& last, std::uint32_t expected) {
    for (int i = 0; i < 200; ++i) {
        if (last == expected) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
}

}  // namespace

TEST_CASE("files are taken anew while eight threads submit; a broken one keeps the old one and is told once",
          "[slurm]") {
    const Site site("deadline_ms = 10000");
    set_max_time(site, 60);
    JobSubmitPlugin plugin(site.config(), no_module);
    slurm_host::take_log();
    std::atomic<bool> goes_on{true};
    std::atomic<std::uint32_t> last{0};
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t)
        threads.emplace_back([&] {
            while (goes_on) {
                const std::uint32_t limit = limit_of(plugin);
                wrong += limit != 60 && limit != 90;
                last = limit;
            }
        });
    CHECK(comes_to(last, 60));
    set_max_time(site, 90);
    CHECK(comes_to(last, 90));
    site.write("cluster.toml", "[[partition]]\nname = ");
    std::this_thread::sleep_for(std::chrono::milliseconds(2500));
    CHECK(last == 90);
    set_max_time(site, 60);
    CHECK(comes_to(last, 60));
    goes_on = false;
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
    int told = 0;
    for (const std::string& line : slurm_host::take_log()) told += line.find("cluster.toml:2:") != std::string::npos;
    CHECK(told == 1);
}

TEST_CASE("a network that fails is stood in for by the analytic model, and rested after three times", "[slurm]") {
    const Site site;
    JobSubmitPlugin plugin(site.config(), DLCAST_BINARY_DIR "/tests/slurm/broken_network.so");
    slurm_host::take_log();
    for (int i = 0; i < 5; ++i) {
        Job job;
        job.set_spank_env({std::string("DLCAST_MODEL=") + vgg16});
        job->tres_per_node = duplicate("gres:gpu:a100:1");
        CHECK_THAT(plugin.submit(job).message, StartsWith("dlcast: vgg16, 1 x a100 (partition a100): about "));
        CHECK(job->time_limit != NO_VAL);
        REQUIRE(job->admin_comment);
        CHECK_THAT(job->admin_comment, Contains(R"("by":"analytic","weights":"")"));
    }
    // The network has nothing to say of mixed precision: nothing failed, and the weights in force are named.
    Job mixed;
    mixed.set_spank_env({R"(DLCAST_MODEL={"model":"vgg16","dataset":"imagenet-1k","training":{"epochs":2,)"
                         R"("batch_size":32,"precision":"amp"}})"});
    mixed->tres_per_node = duplicate("gres:gpu:a100:1");
    plugin.submit(mixed);
    REQUIRE(mixed->admin_comment);
    CHECK_THAT(mixed->admin_comment, Contains(R"("by":"analytic","weights":")") && !Contains(R"("weights":"")"));
    int failures = 0, rests = 0;
    for (const std::string& line : slurm_host::take_log()) {
        failures += line.find("the layer-time network: out of order") != std::string::npos;
        rests += line.find("the network failed 3 times in a row; the analytic model answers for a minute") !=
                 std::string::npos;
    }
    CHECK(failures == 2);  // the third is told with the rest; it is not asked again
    CHECK(rests == 1);
}

// A hundred thousand layers take more than a millisecond to read.
TEST_CASE("a model that takes longer than the deadline passes without a forecast", "[slurm]") {
    const Site site("deadline_ms = 1");
    JobSubmitPlugin plugin(site.config(), no_module);
    Job job;
    job.set_spank_env({R"(DLCAST_MODEL={"model":{"name":"deep","input":[64],"layers":[{"type":"linear","out":64,)"
                       R"("repeat":100000}]},"training":{"steps":10,"batch_size":1}})"});
    job->tres_per_node = duplicate("gres:gpu:a100:1");
    const auto answer = plugin.submit(job);
    CHECK(answer.rc == SLURM_SUCCESS);
    CHECK_THAT(answer.message,
               Contains("no forecast, the job goes on as written: ") && Contains("take all the time a submission may"));
    CHECK(job->time_limit == NO_VAL);
    CHECK(job->spank_job_env_size == 0);
}
