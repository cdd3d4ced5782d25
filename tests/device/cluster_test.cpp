// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/device/cluster_limits.h"

#include <catch2/catch.hpp>

#include "predictor/base/text.h"

using namespace dlcast;

TEST_CASE("the example cluster file reads as it is explained", "[cluster]") {
    const std::string path = DLCAST_SOURCE_DIR "/etc/cluster.example.toml";
    const auto cluster = parse_cluster(*read_file(path, 1 << 20), path);
    if (!cluster) FAIL(cluster.error().message);
    REQUIRE(cluster->partitions.size() == 2);
    const Partition& a100 = *cluster->default_partition();
    CHECK(a100.name == "a100");
    CHECK(a100.max_time_min == 1440);
    CHECK(a100.groups.at(0).gpus_per_node == 4);
    CHECK(a100.groups.at(0).features == std::vector<std::string>{"ib"});
    CHECK(cluster->find("t4")->default_time_min == -1);
    CHECK(cluster->find("t4")->allow_accounts == std::vector<std::string>{"vision", "speech"});
    CHECK(cluster->find("none") == nullptr);
    CHECK(time_cap(*cluster, *cluster->find("t4"), {}).minutes == 240);  // its QOS
    CHECK(cluster->accounts.at(0).parent == "research");
    CHECK(cluster->budgets.at(0).free_gpu_h() == Approx(10000 - 6200 - 310 - 1200));
}

TEST_CASE("a fault in a cluster file names its place and the remedy", "[cluster]") {
    const auto [text, message] = GENERATE(table<std::string, std::string>({
        {"", "cluster file: needs \"partition\"; add a [[partition]], or let `dlcast sync` write the file"},
        {"[[partition]]\n", "c.toml:1:1: partition: needs \"name\""},
        {"[[partition]]\nname = \"p\"\nmax_time_mim = 3\n",
         "c.toml:3:1: partition p: unknown key \"max_time_mim\"; did you mean"},
        {"[[partition]]\nname = \"p\"\nmax_time = 3\n",
         "c.toml:3:1: partition p: unknown key \"max_time\"; did you mean \"max_time_min\"?"},
        {"[[partition]]\nname = \"p\"\nmax_time_min = -3\n", "c.toml:3:16: partition p: max_time_min is -3"},
        {"[[partition]]\nname = \"p\"\n[[partition]]\nname = \"p\"\n", "c.toml:3:1: partition p stands twice"},
        {"[[partition]]\nname = \"p\"\ndefault = true\n[[partition]]\nname = \"q\"\ndefault = true\n",
         "c.toml:6:11: partition q is the default, as p is already; keep one"},
        {"[[partition]]\nname = \"p\"\n[[partition.nodes]]\ngpu = \"t4\"\nnodes = 1\n", "needs \"gpus_per_node\""},
        {"[[partition]]\nname = \"p\"\nnodes = 4\n", "c.toml:3:9: partition p: nodes should be a list"},
        {"[[partition]]\nname = \"p\"\nmax_nodes = 0\n", "c.toml:3:13: partition p: max_nodes is 0"},
        {"[[partition]]\nname = \"p\"\ntres_billing_weights = \"CPU=1.0,GRES/gpu=nan\"\n",
         "c.toml:3:24: partition p: tres_billing_weights: \"GRES/gpu=nan\" should be a resource and a number from 0"},
        {"[[partition]]\nname = \"p\"\ntres_billing_weights = \"GRES/gpu=-1\"\n", "\"GRES/gpu=-1\" should be"},
        {"[[partition]]\nname = \"p\"\ntres_billing_weights = \"GRES/gpu\"\n", "\"GRES/gpu\" should be"},
        {"[[partition]]\nname = \"p\"\n[[partition.nodes]]\ngpu = \"\"\ngpus_per_node = 4\nnodes = 1\n",
         "c.toml:4:7: nodes of partition p: gpu is empty; name the GRES type"},
        {"[[partition]]\nname = \"p\"\n[[partition.nodes]]\ngpus_per_node = 4\nnodes = 1\n", "needs \"gpu\"; add gpu"},
        {"partition = 3\n", "partition should be a list; write [[partition]]"},
        {"[[partition]]\nname = \"p\"\n[cluster]\nsynced_at_s = 2024-01-01\n", "c.toml:4:15: a date or time"},
    }));
    INFO(text);
    const auto cluster = parse_cluster(text, "c.toml");
    REQUIRE_FALSE(cluster);
    CHECK_THAT(cluster.error().message, Catch::Contains(message));
}

TEST_CASE("billing weights are read with Slurm's suffixes", "[cluster]") {
    CHECK(billing_fault("").empty());
    CHECK(billing_fault("CPU=1.0,Mem=0.25G,GRES/gpu=2.0,GRES/gpu:a100=0").empty());
}

namespace {

Device device_with(const std::string& link) {
    Device out;
    out.link = link;
    return out;
}

}  // namespace

TEST_CASE("a device's link inside a node is the one its catalog entry names", "[cluster]") {
    // NVLink 3 of an A100: 12 links x 25 GB/s one way, of which a protocol keeps 80 %: 240 GB/s.
    CHECK(intra_node_link(device_with("nvlink3")).bandwidth_Bps == Approx(240e9));
    // PCIe 3 x16: 16 GB/s, of which 12 are kept.
    CHECK(intra_node_link(device_with("pcie3")).bandwidth_Bps == Approx(12e9));
    // Nothing named, or one GPU a node: what a server has.
    for (const char* link : {"", "none", "nosuch"}) {
        CHECK(intra_node_link(device_with(link)).bandwidth_Bps == Approx(24e9));
        CHECK(intra_node_link(device_with(link)).latency_s > 0.0);
    }
    CHECK_FALSE(link_named("nosuch"));
}

TEST_CASE("a wrong count of GPUs is one fault", "[cluster]") {
    const auto checked = check_cluster(
        "[[partition]]\nname = \"p\"\n[[partition.nodes]]\ngpu = \"t4\"\nnodes = 1\ngpus_per_node = 9999\n", "c.toml");
    REQUIRE(checked.faults.size() == 1);
    CHECK(checked.faults[0].find("it should be from 1 to 1024") != std::string::npos);
}
