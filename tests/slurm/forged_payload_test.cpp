// SPDX-License-Identifier: GPL-2.0-or-later
// A client of one's own can put anything into a submission. The plugin must come back, and the job go on as it was.
#include <catch2/catch.hpp>
#include <random>

#include "tests/slurm/site.h"
#include "tests/slurm/slurm_host.h"

using slurm_host::duplicate;
using slurm_host::Job;
using slurm_host::JobSubmitPlugin;

namespace {

const std::string good = R"({"model":"vgg16","dataset":"imagenet-1k","training":{"epochs":2,"batch_size":32}})";

std::string repeated(const std::string& text, int times) {
    std::string out;
    for (int i = 0; i < times; ++i) out += text;
    return out;
}

void expect_untouched(JobSubmitPlugin& plugin, const std::string& payload) {
    Job job;
    job.set_spank_env({"DLCAST_MODEL=" + payload});
    job->tres_per_node = duplicate("gres:gpu:a100:4");
    CHECK(plugin.submit(job).rc == SLURM_SUCCESS);
    CHECK(job->time_limit == NO_VAL);
    CHECK(job->partition == nullptr);
    CHECK(job->spank_job_env_size == 0);
}

}  // namespace

TEST_CASE("a payload that is no model leaves the job as it was", "[slurm]") {
    const Site site;
    JobSubmitPlugin plugin(site.config(), no_module);
    for (
        const std::string& payload : {
            std::string(),
            std::string("{"),
            std::string("null"),
            std::string("[]"),
            std::string("\xc3\x28"),
            repeated("[", 10'000),
            repeated("{\"model\":", 10'000),
            std::string(200 * 1024, 'x'),
            std::string(70 * 1024, ' ') + good,
            std::string(R"({"model":"no such model","training":{"steps":1}})"),
            std::string(R"({"model":"vgg16","model":"vgg16","training":{"steps":1}})"),
            std::string(R"({"model":"vgg16","training":{"steps":-1}})"),
            std::string(R"({"model":"vgg16","training":{"steps":1e400}})"),
            std::string(R"({"model":"vgg16","training":{"steps":1,"batch_size":9223372036854775807}})"),
            std::string(R"({"model":"/etc/passwd","training":{"steps":1}})"),
            std::string(
                R"({"model":{"name":"n","input":[3,2147483647,2147483647],"layers":[{"type":"conv2d","out":2147483647,"kernel":3,"repeat":2147483647}]},"training":{"steps":1}})"),
        }) {
        INFO(payload.substr(0, 60));
        expect_untouched(plugin, payload);
    }
}

TEST_CASE("random bytes and random damage to a good payload never crash", "[slurm]") {
    const Site site;
    JobSubmitPlugin plugin(site.config(), no_module);
    std::mt19937 random(1);  // a fixed seed: a failure comes back
    std::uniform_int_distribution<int> byte(1, 255);
    for (int i = 0; i < 2000; ++i) {
        std::string payload = good;
        if (i % 2 == 0) {
            payload.assign(random() % 300, ' ');
            for (char& c : payload) c = static_cast<char>(byte(random));
        } else {
            for (int hits = 0; hits < 3; ++hits) payload[random() % payload.size()] = static_cast<char>(byte(random));
        }
        Job job;
        job.set_spank_env({"DLCAST_MODEL=" + payload});
        job->tres_per_node = duplicate("gres:gpu:a100:4");
        plugin.submit(job);
        REQUIRE(job->spank_job_env_size == 0);
    }
}

TEST_CASE("a request of empty fields or of nonsense never crashes", "[slurm]") {
    const Site site;
    JobSubmitPlugin plugin(site.config(), no_module);
    for (const std::string& nonsense :
         {std::string(), std::string("gpu:"), std::string("gpu:a100:99999999999999999999"), std::string(":::,,,;;="),
          std::string("gres:gpu:a100:-3"), repeated("gpu:1,", 20'000), std::string("\xff\xfe\n\t")}) {
        INFO(nonsense.substr(0, 60));
        Job empty;
        empty.set_spank_env({"DLCAST_MODEL=" + good});
        plugin.submit(empty);
        CHECK(empty->spank_job_env_size == 0);

        Job job;
        job.set_spank_env({"DLCAST_MODEL=" + good});
        for (char** field :
             {&job->partition, &job->features, &job->account, &job->qos, &job->array_inx, &job->admin_comment,
              &job->tres_per_job, &job->tres_per_node, &job->tres_per_task, &job->tres_per_socket}) {
            *field = duplicate(nonsense);
        }
        job->time_limit = 0;
        job->min_nodes = 0;
        job->max_nodes = 4294967000;
        job->num_tasks = 4294967000;
        job->ntasks_per_node = 65000;
        plugin.submit(job);
        CHECK(job->spank_job_env_size == 0);
    }
}
