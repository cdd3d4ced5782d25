// SPDX-License-Identifier: GPL-2.0-or-later
// Whatever a client sends and whatever state the plugin is in: nothing of ours stays in spank_job_env, where 1 MB of it
// would end slurmctld as soon as PrologSlurmctld is configured.
#include <catch2/catch.hpp>

#include "tests/slurm/site.h"
#include "tests/slurm/slurm_host.h"

using slurm_host::Job;
using slurm_host::JobSubmitPlugin;

namespace {

using Entries = std::vector<std::string>;

const std::string payload =
    R"(DLCAST_MODEL={"model":"vgg16","dataset":"imagenet-1k","training":{"epochs":2,"batch_size":64}})";
const std::string option = "_SLURM_SPANK_OPTION_dlcast_dl_model=vgg16.json";

}  // namespace

TEST_CASE("the payload and Slurm's entry for the option are taken out, all others stay in order", "[slurm]") {
    const Site site;
    JobSubmitPlugin plugin(site.config(), no_module);
    const auto [before, after] = GENERATE_COPY(table<Entries, Entries>({
        {{payload}, {}},
        {{payload, option}, {}},
        {{option}, {}},
        {{"A=1", payload, "B=2", option, "C=3"}, {"A=1", "B=2", "C=3"}},
        {{payload, payload, "A=1", payload}, {"A=1"}},
        {{"DLCAST_MODEL="}, {}},
        {{"DLCAST_MODEL=" + std::string(1 << 20, 'x'), "A=1"}, {"A=1"}},
        {{"A=1", "DLCAST_MODEL=\xff\xfe\x01"}, {"A=1"}},
        // Names that only begin alike are somebody else's.
        {{"DLCAST_MODELS=1", "DLCAST_MODEL", "_SLURM_SPANK_OPTION_dlcast_dl_model_x=1"},
         {"DLCAST_MODELS=1", "DLCAST_MODEL", "_SLURM_SPANK_OPTION_dlcast_dl_model_x=1"}},
        {{"A=1"}, {"A=1"}},
        {{}, {}},
    }));
    Job job;
    job.set_spank_env(before);
    plugin.submit(job);
    CHECK(job.spank_env() == after);
    CHECK((job->spank_job_env == nullptr) == after.empty());
}

TEST_CASE("the payload is taken out in every state of the plugin", "[slurm]") {
    const std::string policy = GENERATE(R"(mode = "shadow")", R"(mode = "advise")", R"(mode = "enforce")",
                                        R"(mode = "no such mode")", "= broken");
    const Site site(policy);
    JobSubmitPlugin plugin(site.config(), no_module);
    Job job;
    job.set_spank_env({payload, "A=1"});
    job->tres_per_node = slurm_host::duplicate("gres:gpu:a100:1");
    plugin.submit(job);
    CHECK(job.spank_env() == Entries{"A=1"});
}

TEST_CASE("the payload is taken out of a batch script's environment too, and the forecast put in", "[slurm]") {
    const Site site;
    JobSubmitPlugin plugin(site.config(), no_module);
    Job job;
    job.set_spank_env({payload});
    job.set_environment({"PATH=/bin", "SLURM_SPANK_DLCAST_MODEL={}", "DLCAST_STEP_S=mine", "HOME=/"});
    job->tres_per_node = slurm_host::duplicate("gres:gpu:a100:1");
    plugin.submit(job);
    const Entries left = job.environment();
    REQUIRE(left.size() > 3);
    CHECK(Entries(left.begin(), left.begin() + 3) == Entries{"PATH=/bin", "DLCAST_STEP_S=mine", "HOME=/"});
    int limits = 0, steps = 0;
    for (const std::string& entry : left) {
        limits += entry == "DLCAST_LIMIT_S=" + std::to_string(60 * job->time_limit);
        steps += entry.starts_with("DLCAST_STEP_S=");
    }
    CHECK(limits == 1);
    CHECK(steps == 1);  // the user's own stays
}

TEST_CASE("a client that sends no environment gets none", "[slurm]") {
    const Site site;
    JobSubmitPlugin plugin(site.config(), no_module);
    Job job;
    job.set_spank_env({payload});
    job->tres_per_node = slurm_host::duplicate("gres:gpu:a100:1");
    plugin.submit(job);
    CHECK(job->environment == nullptr);
    CHECK(job->env_size == 0);
}

TEST_CASE("the payload is taken out of a submission that is rejected", "[slurm]") {
    const Site site("on_failure = \"reject\"");
    JobSubmitPlugin plugin(site.config(), no_module);
    Job job;
    job.set_spank_env({"DLCAST_MODEL=no model at all", "A=1"});
    job->tres_per_node = slurm_host::duplicate("gres:gpu:a100:1");
    const auto answer = plugin.submit(job);
    CHECK(answer.rc == ESLURM_MISSING_TIME_LIMIT);
    CHECK_FALSE(answer.message.empty());
    CHECK(job.spank_env() == Entries{"A=1"});
}

TEST_CASE("missing entries and counts without an array are no crash", "[slurm]") {
    const Site site;
    JobSubmitPlugin plugin(site.config(), no_module);
    Job job;
    job.set_spank_env({payload, "A=1"});
    char*& second = job->spank_job_env[1];
    slurm_host::release(std::exchange(second, nullptr));
    plugin.submit(job);
    CHECK(job->spank_job_env_size == 1);
    CHECK(job->spank_job_env[0] == nullptr);

    Job counted;
    counted->spank_job_env_size = 3;
    CHECK(plugin.submit(counted).rc == SLURM_SUCCESS);
    counted->spank_job_env_size = 0;
}

TEST_CASE("a submission leaves no memory behind", "[slurm]") {
    const Site site;
    JobSubmitPlugin plugin(site.config(), no_module);
    const std::size_t before = slurm_host::live_blocks();
    {
        Job job;
        job.set_spank_env({payload, option, payload, "A=1"});
        job->tres_per_node = slurm_host::duplicate("gres:gpu:a100:4");
        job->admin_comment = slurm_host::duplicate("ticket 12");
        plugin.submit(job);
    }
    CHECK(slurm_host::live_blocks() == before);
}
