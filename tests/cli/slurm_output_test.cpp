// SPDX-License-Identifier: GPL-2.0-or-later
// data/slurm-22.05 is what a Slurm 22.05.8 printed (host and kernel names replaced).
#include "cli/slurm_output.h"

#include <catch2/catch.hpp>

#include "cli/sync.h"
#include "predictor/base/text.h"

using namespace dlcast;

namespace {

constexpr double mebi = 1 << 20;

SlurmOutput saved() {
    auto output = read_slurm_output(DLCAST_SOURCE_DIR "/tests/cli/data/slurm-22.05");
    if (!output) FAIL(output.error().message);
    return *output;
}

Cluster cluster_of(const SlurmOutput& output) {
    std::vector<std::string> warnings;
    auto cluster = cluster_from_slurm(output, warnings);
    if (!cluster) FAIL(cluster.error().message);
    return *cluster;
}

// Of the lines that start with NodeName, those of `names`.
std::string only_nodes(const std::string& nodes, const std::vector<std::string>& names) {
    std::string out;
    for (const std::string& line : split(nodes, '\n'))
        for (const std::string& name : names)
            if (line.starts_with("NodeName=" + name + " ")) out += line + "\n";
    return out;
}

}  // namespace

TEST_CASE("a partition has Slurm's limits, access lists and QOS", "[sync]") {
    const Cluster cluster = cluster_of(saved());
    CHECK(cluster.name == "dlcast");
    CHECK(cluster.slurm_version == "22.05.8");
    REQUIRE(cluster.partitions.size() == 6);
    REQUIRE(cluster.default_partition());
    CHECK(cluster.default_partition()->name == "cpu");
    CHECK(cluster.default_partition()->max_time_min == 24 * 60);  // MaxTime=1-00:00:00
    CHECK(cluster.default_partition()->default_time_min == 60);   // DefaultTime=01:00:00

    const Partition& big = *cluster.find("big");
    CHECK(big.max_time_min == -1);  // UNLIMITED
    CHECK(big.default_time_min == -1);
    CHECK(big.max_nodes == 8);
    CHECK_FALSE(big.up);  // DRAIN
    CHECK(big.allow_accounts == std::vector<std::string>{"vision", "speech"});
    CHECK(big.allow_groups == std::vector<std::string>{"root", "users"});
    CHECK(big.deny_qos == std::vector<std::string>{"low"});
    CHECK(big.tres_billing_weights == "CPU=1.0,Mem=0.25G,GRES/gpu=8.0");
    CHECK(big.qos.empty());

    const Partition& mix = *cluster.find("mix");
    CHECK(mix.up);
    CHECK(mix.max_time_min == 5 * 1440 + 12 * 60 + 30);  // 5-12:30:00
    CHECK(mix.allow_qos == std::vector<std::string>{"normal", "high"});
    CHECK(mix.deny_accounts == std::vector<std::string>{"none1"});
    CHECK(mix.allow_groups.empty());  // ALL
    CHECK(mix.qos == "normal");
    CHECK(mix.max_nodes == -1);
}

TEST_CASE("what no cluster file holds is left out with a warning, and the rest is written", "[sync]") {
    SlurmOutput output = saved();
    const auto replace = [&output](const std::string& from, const std::string& to) {
        const auto at = output.partitions.find(from);
        REQUIRE(at != std::string::npos);
        output.partitions.replace(at, from.size(), to);
    };
    replace("GRES/gpu=8.0", "GRES/gpu=-8.0");
    replace("MaxNodes=8", "MaxNodes=0");
    std::vector<std::string> warnings;
    const auto cluster = cluster_from_slurm(output, warnings);
    REQUIRE(cluster);
    CHECK(cluster->find("big")->tres_billing_weights.empty());
    CHECK_FALSE(cluster->find("big")->up);
    CHECK(cluster->find("big")->max_nodes == -1);
    REQUIRE(warnings.size() >= 2);
    CHECK_THAT(warnings[0], Catch::Contains("partition big: TRESBillingWeights are left out: \"GRES/gpu=-8.0\""));
    CHECK_THAT(warnings[1], Catch::Contains("partition big: MaxNodes=0"));
}

TEST_CASE("nodes of a kind are one group, and a node with two types of GPU stands in two", "[sync]") {
    const Cluster cluster = cluster_of(saved());
    const auto& a100 = cluster.find("a100")->groups;
    REQUIRE(a100.size() == 1);
    CHECK(a100[0].gpu == "a100");
    CHECK(a100[0].gpus_per_node == 4);
    CHECK(a100[0].nodes == 2);
    CHECK(a100[0].cpus_per_node == 32);
    CHECK(a100[0].memory_bytes == 20'000 * mebi);
    CHECK(a100[0].features == std::vector<std::string>{"nvlink"});

    const auto& big = cluster.find("big")->groups;
    REQUIRE(big.size() == 3);
    CHECK(big[0].gpu == untyped_gpu);  // Gres=gpu:8
    CHECK(big[0].nodes == 12);
    CHECK(big[1].gpu == "a100_3g.20gb");
    CHECK(big[2].gpu == "1g.5gb");
    CHECK(big[2].gpus_per_node == 8);

    CHECK(cluster.find("mix")->groups.size() == 3);  // gpua1: 4 a100; mx1: 2 a100 and 2 v100
    CHECK(cluster.find("cpu")->groups[0].gpu.empty());
}

TEST_CASE("nodes that Slurm does not show are taken from the partition's totals", "[sync]") {
    SlurmOutput output = saved();
    output.nodes = only_nodes(output.nodes, {"gpua1", "cpu1"});
    std::vector<std::string> warnings;
    const auto cluster = cluster_from_slurm(output, warnings);
    REQUIRE(cluster);
    // mix: 2 nodes, 6 a100 and 2 v100; gpua1 has 4 of the a100.
    const auto& mix = cluster->find("mix")->groups;
    REQUIRE(mix.size() == 3);
    CHECK(mix[1].gpu == "a100");
    CHECK(mix[1].gpus_per_node == 2);
    CHECK(mix[2].gpu == "v100");
    CHECK(mix[2].gpus_per_node == 2);
    // big: 14 nodes with 120 GPUs of types that accounting does not know: 8.6 a node.
    const auto& big = cluster->find("big")->groups;
    REQUIRE(big.size() == 1);
    CHECK(big[0].gpu == untyped_gpu);
    CHECK(big[0].nodes == 14);
    CHECK(big[0].gpus_per_node == 8);
    CHECK(warnings.size() == 7);  // five partitions, all but cpu; two groups of big whose members nobody names here
}

TEST_CASE("flags of a QOS and limits of accounts are read", "[sync]") {
    SlurmOutput output = saved();
    output.qos = "Name|MaxWall|Flags\nnormal||\nlong|7-00:00:00|DenyOnLimit,OverPartQOS,PartitionTimeLimit\n";
    output.associations =
        "Account|User|Partition|MaxWall|Def QOS\nroot||||normal\nvision|||2-00:00:00|normal\n"
        "vision|ada||2-00:00:00|normal\nvision|bob||04:00:00|long\nroot|root|||normal\n";
    output.users = "User|Def Acct\nada|vision\nbob|vision\nghost|vision\n";
    NameService names;
    names.uid_of = [](const std::string& user) -> std::optional<std::uint32_t> {
        if (user == "ada") return 1001;
        if (user == "bob") return 1002;
        return std::nullopt;
    };
    names.uids_in = [](const std::string& group) { return std::vector<std::uint32_t>{group == "users" ? 1001U : 7U}; };
    std::vector<std::string> warnings;
    const auto cluster = cluster_from_slurm(output, warnings, names);
    REQUIRE(cluster);
    CHECK(cluster->qos.at(1).over_partition_qos);
    CHECK(cluster->qos.at(1).over_partition_time);
    CHECK(cluster->qos.at(1).max_time_min == 7 * 1440);
    // ada says nothing beside her account, nor root; ghost has no uid here.
    REQUIRE(cluster->associations.size() == 3);
    CHECK(cluster->associations[1].max_time_min == 2 * 1440);
    CHECK(cluster->associations[2].user == "bob");
    CHECK(cluster->associations[2].max_time_min == 240);
    REQUIRE(cluster->users.size() == 2);
    CHECK(cluster->users[1].uid == 1002);
    CHECK(cluster->find("big")->allow_uids == std::vector<std::uint32_t>{7, 1001});
    const std::string text = write_cluster(*cluster);
    const auto read = parse_cluster(text, "cluster.toml");
    REQUIRE(read);
    CHECK(write_cluster(*read) == text);
}

TEST_CASE("the option --time-min is a soft limit where Slurm is new enough and its configuration says so", "[sync]") {
    const auto [version, parameters, soft] = GENERATE(table<std::string, std::string, bool>({
        {"25.05.8", "bf_interval=5,time_min_as_soft_limit", true},
        {"23.11.0", "time_min_as_soft_limit", true},
        {"23.02.7", "time_min_as_soft_limit", false},
        {"25.05.8", "bf_interval=5", false},
        {"strange", "time_min_as_soft_limit", false},
    }));
    SlurmOutput output = saved();
    output.config = "ClusterName = c\nSchedulerParameters = " + parameters + "\nSLURM_VERSION = " + version + "\n";
    CHECK(cluster_of(output).soft_time_limit == soft);
}

TEST_CASE("output that was cut off is refused, never half believed", "[sync]") {
    SlurmOutput output = saved();
    std::vector<std::string> warnings;
    output.partitions.resize(output.partitions.size() - 100);  // inside the last line
    const auto cut = cluster_from_slurm(output, warnings);
    REQUIRE_FALSE(cut);
    CHECK_THAT(cut.error().message, Catch::Contains("cut off"));

    output.partitions = "PartitionName=cpu AllowGroups=ALL Default=YES Nodes=cpu1\n";
    const auto bare = cluster_from_slurm(output, warnings);
    REQUIRE_FALSE(bare);
    CHECK_THAT(bare.error().message, Catch::Contains("partition cpu: Slurm printed no MaxTime"));

    output = saved();
    output.associations = "Account|ParentName|User|Partition|MaxWall|Def QOS|GrpTR";
    const auto lost = cluster_from_slurm(output, warnings);
    REQUIRE_FALSE(lost);  // its budgets would be gone
    CHECK_THAT(lost.error().message, Catch::Contains("cut off"));

    output.partitions = "slurm_load_partitions error: Unable to contact slurm controller\n";
    CHECK_FALSE(cluster_from_slurm(output, warnings));
}

TEST_CASE("names that no cluster file can hold are refused before a working file is replaced", "[sync]") {
    SlurmOutput output = saved();
    std::vector<std::string> warnings;
    const auto at = output.partitions.find("QoS=normal");
    output.partitions[at + 4] = '\xff';  // no UTF-8
    const auto cluster = cluster_from_slurm(output, warnings);
    REQUIRE_FALSE(cluster);
    CHECK_THAT(cluster.error().message, Catch::Contains("makes no cluster file"));
}

TEST_CASE("output of any other shape gives an error or a cluster, never a crash", "[sync]") {
    const SlurmOutput whole = saved();
    for (std::size_t bytes = 0; bytes < whole.partitions.size(); bytes += 97) {
        SlurmOutput output = whole;
        std::vector<std::string> warnings;
        output.partitions = whole.partitions.substr(0, bytes) + "= ==\tNodes==PartitionName=\n\xff" + whole.partitions;
        output.nodes = whole.nodes.substr(0, 2 * bytes) + "\n";
        const auto cluster = cluster_from_slurm(output, warnings);
        if (cluster) CHECK_FALSE(cluster->partitions.empty());
    }
}

TEST_CASE("GPUs are told from every form of Gres", "[sync]") {
    using Gpus = std::vector<std::pair<std::string, int>>;
    CHECK(gpus_of_gres("gpu:a100:4(S:0-1)") == Gpus{{"a100", 4}});
    CHECK(gpus_of_gres("gpu:a100:2(S:0,1),gpu:t4:1,shard:8") == Gpus{{"a100", 2}, {"t4", 1}});
    CHECK(gpus_of_gres("gpu:8") == Gpus{{"gpu", 8}});
    CHECK(gpus_of_gres("gpu") == Gpus{{"gpu", 1}});
    CHECK(gpus_of_gres("gpu:v100") == Gpus{{"v100", 1}});
    CHECK(gpus_of_gres("nic:2,craynetwork:4").empty());
    CHECK(gpus_of_gres("(null)").empty());
    CHECK(gpus_of_gres("gpu:a100:0,gpu:a100:99999999999999999999,gpu:a:b:c").empty());
}

TEST_CASE("free text at the end of a node's line changes no field", "[sync]") {
    const auto record =
        slurm_record("NodeName=n1 OS=Linux 6.1 #1 SMP  Partitions=a State=DOWN Reason=fan = bad Partitions=b c");
    CHECK(record.at("OS") == "Linux 6.1 #1 SMP");
    CHECK(record.at("Partitions") == "a");
    CHECK(record.at("Reason") == "fan = bad");
}

TEST_CASE("a cluster file reads back as it was written", "[sync]") {
    Cluster cluster = cluster_of(saved());
    cluster.synced_at_s = 1'700'000'000;
    cluster.partitions[0].qos = "with \"quotes\" and \\ and \x01";
    const std::string text = write_cluster(cluster);
    const auto read = parse_cluster(text, "cluster.toml");
    if (!read) FAIL(read.error().message);
    CHECK(write_cluster(*read) == text);
    CHECK(read->partitions[0].qos == cluster.partitions[0].qos);
    CHECK(read->qos.size() == 2);
    CHECK(read->synced_at_s == 1'700'000'000);
}
