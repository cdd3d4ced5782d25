// SPDX-License-Identifier: GPL-2.0-or-later
// GPUs and places as a job names them, through the loaded plugin: the words a user reads.
#include <catch2/catch.hpp>
#include <ctime>

#include "tests/slurm/site.h"
#include "tests/slurm/slurm_host.h"

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using slurm_host::duplicate;
using slurm_host::Job;
using slurm_host::JobSubmitPlugin;

namespace {

constexpr const char* payload =
    R"(DLCAST_MODEL={"model":"vgg16","dataset":"imagenet-1k","training":{"epochs":2,"batch_size":32}})";

struct Asked {
    std::string per_node = {}, partition = {}, features = {}, account = {}, qos = {};
    std::uint32_t user_id = 1001;
    std::string nodelist = {}, exclude = {}, reservation = {};
    std::uint16_t cpus_per_task = NO_VAL16;
    std::uint32_t min_cpus = NO_VAL;
    std::uint64_t memory = NO_VAL64;
    std::time_t deadline = 0;
};

struct Answer {
    std::string message, partition;
    std::uint32_t limit_min;
};

Answer submit(JobSubmitPlugin& plugin, const Asked& asked) {
    Job job;
    job.set_spank_env({payload});
    const auto set = [](char*& field, const std::string& value) {
        if (!value.empty()) field = duplicate(value);
    };
    set(job->tres_per_node, asked.per_node);
    set(job->partition, asked.partition);
    set(job->features, asked.features);
    set(job->account, asked.account);
    set(job->qos, asked.qos);
    set(job->req_nodes, asked.nodelist);
    set(job->exc_nodes, asked.exclude);
    set(job->reservation, asked.reservation);
    job->user_id = asked.user_id;
    job->cpus_per_task = asked.cpus_per_task;
    job->min_cpus = asked.min_cpus;
    job->pn_min_memory = asked.memory;
    job->deadline = asked.deadline;
    const std::string message = plugin.submit(job).message;
    return {message, job->partition ? job->partition : "", job->time_limit};
}

// A site whose A100 have 40 GB, and partitions as given: name, further keys, nodes.
struct Place {
    std::string name, keys, nodes;
};
std::string nodes(const std::string& gpu, int gpus, int count, const std::string& features = "") {
    std::string text =
        "[[partition.nodes]]\ngpus_per_node = " + std::to_string(gpus) + "\nnodes = " + std::to_string(count) + "\n";
    if (!gpu.empty()) text += "gpu = \"" + gpu + "\"\n";
    if (!features.empty()) text += "features = [\"" + features + "\"]\n";
    return text;
}
void describe(const Site& site, const std::vector<Place>& places, const std::string& policy = "",
              const std::string& more_names = "", const std::string& more_cluster = "") {
    site.write("dlcast.toml", policy + "\n[gpu_names]\na100 = \"A100-SXM4-40GB\"\nv100 = \"V100-SXM2-32GB\"\n" +
                                  more_names + "[files]\ngpus = \"" DLCAST_SOURCE_DIR "/etc/gpus.toml\"\n");
    std::string text = "[cluster]\nname = \"test\"\n";
    for (const Place& place : places)
        text += "[[partition]]\nname = \"" + place.name + "\"\n" + place.keys + place.nodes;
    site.write("cluster.toml", text + more_cluster);
}

}  // namespace

TEST_CASE("GPUs are counted among other resources, in every spelling and with suffixes", "[slurm]") {
    const Site site;
    JobSubmitPlugin plugin(site.config(), no_module);
    const auto [per_node, words] = GENERATE(table<const char*, const char*>({
        {"gres:gpu:1,gres:VramPerGpu:12G", "vgg16, 1 x "},
        {"gres:gpu:v100:2,gres:shard:4,gres:nvme:1", "vgg16, 2 x v100 (partition v100)"},
        {"gres/gpu:a100=4", "vgg16, 4 x a100 (partition a100)"},
        {"gres:gpu:a100:4,gres:gpu:4", "vgg16, 4 x a100 (partition a100)"},
        {"gres:gpu:1K", "no partition can hold the job (partition a100: 1 node of 1024 GPUs is asked for"},
        {"gres:gpu:h100:1", "no partition can hold the job (partition a100: has no h100"},
        {"gres:gpu:a100:1,gres:gpu:v100:1", "dlcast: no forecast, the job goes on as written: "},
        {"gres:nvme:1", "vgg16: the job asks for no GPU, so it goes on as written, without a forecast"},
    }));
    INFO(per_node);
    CHECK_THAT(submit(plugin, {.per_node = per_node}).message, Contains(words));
}

TEST_CASE("a slice of a GPU takes longer than the whole, and is named as the site writes it", "[slurm]") {
    const Site site;
    describe(site, {{"whole", "", nodes("a100", 4, 1)},
                    {"cut", "", nodes("a100_4g.20gb", 4, 1)},
                    {"bare", "", nodes("1g.10gb", 7, 1)}});
    JobSubmitPlugin plugin(site.config(), no_module);
    const Answer whole = submit(plugin, {.per_node = "gres:gpu:a100:1"});
    const Answer cut = submit(plugin, {.per_node = "gres:gpu:a100_4g.20gb:1"});
    const Answer bare = submit(plugin, {.per_node = "gres:gpu:1g.10gb:1"});
    CHECK_THAT(cut.message, StartsWith("dlcast: vgg16, 1 x a100_4g.20gb (partition cut): about "));
    CHECK_THAT(bare.message, StartsWith("dlcast: vgg16, 1 x 1g.10gb (partition bare): about "));
    CHECK(whole.limit_min < cut.limit_min);
    CHECK(cut.limit_min < bare.limit_min);
}

TEST_CASE("where nodes or a reservation are named the partitions stay, and the slowest makes the limit", "[slurm]") {
    const Site site;
    JobSubmitPlugin plugin(site.config(), no_module);
    const char* const list = "a100,v100,t4";
    const Answer slowest = submit(plugin, {.per_node = "gres:gpu:1", .partition = "t4"});
    const Answer free = submit(plugin, {.per_node = "gres:gpu:1", .partition = list});
    CHECK(free.partition == "a100");
    CHECK(free.limit_min < slowest.limit_min);
    const Asked asked = GENERATE_COPY(Asked{.per_node = "gres:gpu:1", .partition = list, .nodelist = "gpuv1"},
                                      Asked{.per_node = "gres:gpu:1", .partition = list, .exclude = "gpua[1-2]"},
                                      Asked{.per_node = "gres:gpu:1", .partition = list, .reservation = "r1"});
    const Answer answer = submit(plugin, asked);
    CHECK(answer.partition == list);
    CHECK(answer.limit_min == slowest.limit_min);
    CHECK_THAT(answer.message, StartsWith("dlcast: vgg16, 1 x t4 (partition t4): about "));
    CHECK_THAT(answer.message, Contains("the slowest partition, for --nodelist, --exclude or --reservation says where "
                                        "the job runs"));
    CHECK(submit(plugin, {.per_node = "gres:gpu:1", .nodelist = "gpuv1"}).partition.empty());
}

TEST_CASE("partitions whose nodes lack the CPUs or the memory asked for are left out", "[slurm]") {
    const Site site("[partition]\nranking = \"first\"\n");
    JobSubmitPlugin plugin(site.config(), no_module);
    const auto place = [&plugin](Asked asked) {
        asked.per_node = "gres:gpu:1";
        asked.partition = "t4,a100";
        return submit(plugin, asked).partition;
    };
    CHECK(place({}) == "t4");
    CHECK(place({.cpus_per_task = 16}) == "t4");
    CHECK(place({.cpus_per_task = 20}) == "a100");
    CHECK(place({.min_cpus = 20}) == "a100");
    CHECK(place({.memory = 476'000}) == "t4");
    CHECK(place({.cpus_per_task = 20, .memory = MEM_PER_CPU | 1'000}) == "a100");
    CHECK_THAT(submit(plugin, {.per_node = "gres:gpu:1", .partition = "t4,a100", .memory = 500'000}).message,
               Contains("partition t4: 500000 MiB a node asked for, its t4 nodes have 476837"));
    CHECK_THAT(submit(plugin, {.per_node = "gres:gpu:1", .partition = "t4", .cpus_per_task = 20}).message,
               Contains("partition t4: 20 CPUs a node asked for, its t4 nodes have 16"));
}

TEST_CASE("the limit of a job with --deadline stays open, for Slurm cuts it to that", "[slurm]") {
    const Site site;
    JobSubmitPlugin plugin(site.config(), no_module);
    const std::time_t now = std::time(nullptr);
    const Answer soon = submit(plugin, {.per_node = "gres:gpu:1", .partition = "a100", .deadline = now + 600});
    CHECK(soon.limit_min == NO_VAL);
    CHECK_THAT(soon.message, Contains("suggested time limit "));
    CHECK_THAT(soon.message, Contains("dlcast: warning: it may take "));
    CHECK_THAT(soon.message, Contains(" until --deadline"));
    const Answer late = submit(plugin, {.per_node = "gres:gpu:1", .partition = "a100", .deadline = now + 30 * 86400});
    CHECK(late.limit_min == NO_VAL);
    CHECK_THAT(late.message, !Contains("until --deadline"));
}

TEST_CASE("of the GPUs that a constraint leaves open the slowest is forecast", "[slurm]") {
    const Site site;
    describe(site,
             {{"mixed", "", nodes("a100", 4, 1, "a100") + nodes("v100", 4, 1, "v100") + nodes("t4", 4, 1, "t4")}});
    JobSubmitPlugin plugin(site.config(), no_module);
    const auto [features, gpu] = GENERATE(table<const char*, const char*>(
        {{"a100", "a100"}, {"a100|v100", "v100"}, {"[a100|v100|t4]", "t4"}, {"", "t4"}, {"v100&a100", ""}}));
    const Answer answer = submit(plugin, {.per_node = "gres:gpu:1", .features = features});
    INFO(features);
    if (*gpu)
        CHECK_THAT(answer.message, StartsWith(std::string("dlcast: vgg16, 1 x ") + gpu + " (partition mixed): about "));
    else
        CHECK_THAT(answer.message, Contains("its a100 nodes lack v100&a100"));
}

TEST_CASE("a job without GPUs is forecast where the site has named its CPU", "[slurm]") {
    const Site site;
    describe(site, {{"cpu", "default = true\n", nodes("", 0, 4)}}, "", "cpu = \"T4\"\n");  // any device of the catalog
    JobSubmitPlugin plugin(site.config(), no_module);
    CHECK_THAT(submit(plugin, {}).message,
               StartsWith("dlcast: vgg16, 1 x cpu (partition cpu): about ") && Contains(" node-hours"));
}

// An A100 is about five times as fast as a T4, and billed here ten times as much.
TEST_CASE("the site's ranking chooses among the places", "[slurm]") {
    const auto [ranking, partition] = GENERATE(table<const char*, const char*>(
        {{"fastest", "fast"}, {"cheapest", "cheap"}, {"balanced", "fast"}, {"first", "cheap"}}));
    const Site site;
    describe(site,
             {{"cheap", "tres_billing_weights = \"GRES/gpu=1\"\n", nodes("t4", 4, 1)},
              {"fast", "tres_billing_weights = \"GRES/gpu=10\"\n", nodes("a100", 4, 1)}},
             std::string("[partition]\nranking = \"") + ranking + "\"\n");
    JobSubmitPlugin plugin(site.config(), no_module);
    CHECK(submit(plugin, {.per_node = "gres:gpu:1"}).partition == partition);
    CHECK(submit(plugin, {.per_node = "gres:gpu:1", .partition = "cheap,fast"}).partition == partition);
}

TEST_CASE("a partition is chosen for those alone whom it admits, and says why not where none is left", "[slurm]") {
    const Site site;
    describe(site, {{"down", "up = false\n", nodes("a100", 4, 1)},
                    {"physics", "allow_accounts = [\"physics\"]\n", nodes("a100", 4, 1)},
                    {"urgent", "allow_qos = [\"urgent\"]\n", nodes("a100", 4, 1)},
                    {"staff", "allow_groups = [\"staff\"]\nallow_uids = [1001]\n", nodes("a100", 4, 1)},
                    {"narrow", "max_nodes = 1\n", nodes("t4", 2, 8)}});
    JobSubmitPlugin plugin(site.config(), no_module);
    const auto of = [&](const std::string& account, const std::string& qos, std::uint32_t user_id) {
        return submit(plugin, {.per_node = "gres:gpu:a100:1", .account = account, .qos = qos, .user_id = user_id});
    };
    CHECK(of("physics", "", 1002).partition == "physics");
    CHECK(of("", "urgent", 1002).partition == "urgent");
    CHECK(of("", "", 1001).partition == "staff");
    CHECK_THAT(of("", "", 1002).message,
               Contains("no partition can hold the job (partition down: ") && Contains("partition physics: "));
    CHECK_THAT(submit(plugin, {.per_node = "gres:gpu:4", .partition = "narrow"}).message,
               Contains("1 node of 4 GPUs is asked for, it has 1 node of 2 GPUs"));
}

TEST_CASE("the limit that binds is named with its value, floor and ceiling hold", "[slurm]") {
    const Site site;
    const std::string shorts = "[[qos]]\nname = \"short\"\nmax_time_min = 60\n";
    describe(site, {{"a100", "max_time_min = 120\n", nodes("a100", 4, 1)}}, "", "", shorts);
    {
        JobSubmitPlugin plugin(site.config(), no_module);
        CHECK_THAT(submit(plugin, {.per_node = "gres:gpu:a100:1"}).message,
                   Contains("time limit 2:00:00 (partition's MaxTime)") &&
                       Contains("longer than partition a100 MaxTime 2:00:00; "));
        CHECK_THAT(
            submit(plugin, {.per_node = "gres:gpu:a100:1", .qos = "short"}).message,
            Contains("time limit 1:00:00 (QOS's MaxWall)") && Contains("longer than QOS short MaxWall 1:00:00; "));
    }
    describe(site, {{"a100", "", nodes("a100", 4, 1)}}, "[time_limit]\nceiling_min = 30\n");
    {
        JobSubmitPlugin plugin(site.config(), no_module);
        const Answer answer = submit(plugin, {.per_node = "gres:gpu:a100:1"});
        CHECK(answer.limit_min == 30);
        CHECK_THAT(answer.message, Contains("time limit 0:30:00 (site's ceiling_min)"));
    }
    describe(site, {{"a100", "", nodes("a100", 4, 1)}}, "[time_limit]\nfloor_min = 100000\n");
    JobSubmitPlugin plugin(site.config(), no_module);
    CHECK(submit(plugin, {.per_node = "gres:gpu:a100:1"}).limit_min == 100000);
}
