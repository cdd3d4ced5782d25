// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/candidates.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "predictor/job/choice.h"
#include "predictor/job/constraint.h"

using namespace dlcast;
using Catch::Matchers::Contains;
using Catch::Matchers::WithinRel;

namespace {

NodeGroup nodes(const std::string& gpu, int gpus_per_node, int count, std::vector<std::string> features = {}) {
    NodeGroup group;
    group.gpu = gpu;
    group.gpus_per_node = gpus_per_node;
    group.nodes = count;
    group.features = std::move(features);
    return group;
}
Partition partition(const std::string& name, std::vector<NodeGroup> groups) {
    Partition out;
    out.name = name;
    out.groups = std::move(groups);
    return out;
}
DeviceCatalog catalog() {
    DeviceCatalog out;
    for (const char* name : {"A100", "T4"}) {
        Device device;
        device.name = name;
        device.memory_bytes = 40e9;
        device.vendor = "nvidia";
        device.compute_capability = device.name == "A100" ? 8.0 : 7.5;
        out.add(device, {});
    }
    return out;
}
GpuRequest asking(int gpus, int nodes = 0, int gpus_per_node = 0, const std::string& type = "") {
    GpuRequest out;
    out.type = type;
    out.gpus = gpus;
    out.nodes = out.max_nodes = nodes;
    out.gpus_per_node = gpus_per_node;
    return out;
}
GpuRequest four() { return asking(4, 1, 4); }

std::vector<std::string> names(const Placements& placements) {
    std::vector<std::string> out;
    for (const Placement& placement : placements.found) out.push_back(placement.allocation.partition);
    return out;
}
Placements place(const Cluster& cluster, const SubmitRequest& request, const GpuRequest& gpus) {
    return find_placements(cluster, catalog(), SiteConfig{}, request, gpus);
}
using Names = std::vector<std::string>;

// A candidate whose job takes `seconds` on one GPU.
Candidate taking(double seconds, const std::string& where, bool fits = true) {
    Candidate out;
    out.job = JobForecast{};
    out.job->p50_s = seconds;
    out.allocation.partition = where;
    out.fits_time = fits;
    return out;
}
Placement billed(double weight) {
    Placement out;
    out.billing_per_gpu = weight;
    return out;
}

}  // namespace

TEST_CASE("nodes without the CPUs asked for are named with their GPUs, where they have any", "[candidates]") {
    Cluster cluster;
    cluster.partitions = {partition("cpu", {nodes("", 0, 2)}), partition("a100", {nodes("a100", 4, 2)})};
    for (Partition& one : cluster.partitions) one.groups.front().cpus_per_node = 16;
    cluster.partitions.front().is_default = true;
    SubmitRequest request;
    request.cpus_per_task = 20;
    GpuRequest on_cpu = asking(1, 1, 1);
    on_cpu.on_cpu = true;
    CHECK(place(cluster, request, on_cpu).misses ==
          Names{"partition cpu: 20 CPUs a node asked for, its nodes have 16"});
    request.partition = "a100";
    CHECK(place(cluster, request, four()).misses ==
          Names{"partition a100: 20 CPUs a node asked for, its a100 nodes have 16"});
    request.cpus_per_task = -1;
    request.min_cpus = 33;
    CHECK(place(cluster, request, four()).misses ==
          Names{"partition a100: 33 CPUs asked for, 2 of its a100 nodes have 32"});
}

TEST_CASE("GPUs go on as few nodes as hold them evenly", "[candidates]") {
    struct Case {
        int gpus, per_node, nodes;              // asked in all; the partition's
        int expected_nodes, expected_per_node;  // 0: does not fit
    };
    const auto c = GENERATE(Case{4, 4, 2, 1, 4}, Case{8, 4, 2, 2, 4}, Case{2, 8, 1, 1, 2}, Case{12, 8, 4, 2, 6},
                            Case{10, 4, 8, 5, 2}, Case{9, 4, 2, 0, 0}, Case{16, 4, 2, 0, 0}, Case{7, 4, 4, 7, 1});
    const auto count = place_gpus(asking(c.gpus, 0, 0), c.per_node, c.nodes);
    CHECK(bool(count) == (c.expected_nodes > 0));
    if (!count) return;
    CHECK(count->nodes == c.expected_nodes);
    CHECK(count->gpus_per_node == c.expected_per_node);
}

TEST_CASE("GPUs that no allowed number of nodes holds evenly are forecast on more nodes", "[candidates]") {
    const auto seven_on_two = place_gpus(asking(7, 2), 4, 2);
    REQUIRE(seven_on_two);
    CHECK(seven_on_two->uneven);
    CHECK(seven_on_two->nodes == 7);
    GpuRequest range = asking(8);
    range.nodes = 1;
    range.max_nodes = 4;
    CHECK(place_gpus(range, 4, 8)->nodes == 2);
    CHECK(place_gpus(range, 8, 8)->nodes == 1);
    CHECK_FALSE(place_gpus(range, 1, 8));
}

TEST_CASE("whole nodes have the GPUs of the place, and are looked for in the default partition", "[candidates]") {
    Cluster cluster;
    cluster.partitions = {partition("small", {nodes("t4", 2, 8)}), partition("big", {nodes("a100", 4, 2)})};
    cluster.partitions[1].is_default = true;
    GpuRequest whole;
    whole.whole_nodes = true;
    whole.nodes = whole.max_nodes = 2;
    const Placements placements = place(cluster, {}, whole);
    REQUIRE(names(placements) == Names{"big"});
    CHECK(placements.found[0].allocation.world_size() == 8);
    whole.nodes = whole.max_nodes = 3;
    CHECK_THAT(place(cluster, {}, whole).misses.at(0), Contains("3 whole nodes are asked for"));
}

TEST_CASE("nodes that are asked for must be there with their GPUs", "[candidates]") {
    const GpuRequest two_nodes = asking(8, 2, 4);
    CHECK(place_gpus(two_nodes, 4, 2));
    CHECK_FALSE(place_gpus(two_nodes, 4, 1));
    CHECK_FALSE(place_gpus(two_nodes, 2, 8));
    CHECK_FALSE(place_gpus(two_nodes, 0, 8));
}

TEST_CASE("partitions with the GPUs asked for are found", "[candidates]") {
    Cluster cluster;
    cluster.partitions = {partition("cpu", {nodes("", 0, 10)}), partition("big", {nodes("a100", 4, 2)}),
                          partition("small", {nodes("t4", 2, 8)})};
    CHECK(names(place(cluster, {}, four())) == Names{"big"});
    CHECK(names(place(cluster, {}, asking(4, 0, 0))) == Names{"big", "small"});
    CHECK(names(place(cluster, {}, asking(2, 1, 2, "T4"))) == Names{"small"});
    const Placements none = place(cluster, {}, asking(1, 1, 1, "h100"));
    CHECK(none.found.empty());
    CHECK(none.misses.size() == 3);
}

TEST_CASE("partitions that are closed to the job are not chosen for it, but may be asked for", "[candidates]") {
    Cluster cluster;
    cluster.partitions.assign(5, partition("", {nodes("a100", 4, 2)}));
    cluster.partitions[0].name = "down";
    cluster.partitions[0].up = false;
    cluster.partitions[1].name = "accounts";
    cluster.partitions[1].allow_accounts = {"physics"};
    cluster.partitions[2].name = "denied";
    cluster.partitions[2].deny_accounts = {"Guests"};
    cluster.partitions[3].name = "groups";
    cluster.partitions[3].allow_groups = {"staff"};
    cluster.partitions[4].name = "qos";
    cluster.partitions[4].allow_qos = {"high"};
    SubmitRequest request;
    request.user_id = 1000;
    CHECK(names(place(cluster, request, four())) == Names{"denied"});
    request.account = "physics";
    CHECK(names(place(cluster, request, four())) == Names{"accounts", "denied"});
    request.account = "guests";
    request.qos = "high";
    CHECK(names(place(cluster, request, four())) == Names{"qos"});
    request.partition = "groups,accounts";
    CHECK(names(place(cluster, request, four())) == Names{"groups", "accounts"});
    request.partition = "nowhere";
    CHECK_THAT(place(cluster, request, four()).misses.at(0), Contains("nowhere") && Contains("dlcast sync"));
}

TEST_CASE("a partition's MaxNodes and unknown GPUs are misses with a reason", "[candidates]") {
    Cluster cluster;
    cluster.partitions = {partition("narrow", {nodes("a100", 4, 8)}), partition("strange", {nodes("zx81", 4, 8)})};
    cluster.partitions[0].max_nodes = 1;
    const Placements placements = place(cluster, {}, asking(8, 2, 4));
    CHECK(placements.found.empty());
    REQUIRE(placements.misses.size() == 2);
    CHECK_THAT(placements.misses[0], Contains("2 nodes of 4 GPUs are asked for") && Contains("1 node of 4 GPUs"));
    CHECK_THAT(placements.misses[1], Contains("zx81"));
}

TEST_CASE("constraints select nodes by their features", "[candidates]") {
    const std::vector<std::string> has = {"ib", "nvlink"};
    const auto [constraint, good] = GENERATE(table<std::string, bool>({{"", true},
                                                                       {"ib", true},
                                                                       {"IB", true},
                                                                       {"ib&nvlink", true},
                                                                       {"ib&gpu80", false},
                                                                       {"gpu80|nvlink", true},
                                                                       {"[gpu80|roce]", false},
                                                                       {"nvlink*2", true},
                                                                       {"[gpu80*1&nvlink*2]", false},
                                                                       {"ib&(gpu80|nvlink)", true},
                                                                       {"(gpu80|roce)&ib", false},
                                                                       {"gpu80,ib", false},
                                                                       {"(((ib", false},
                                                                       {"ib)", false},
                                                                       {"&", false},
                                                                       {"(ib&nvlink)|gpu80", true}}));
    CHECK(satisfies(constraint, has) == good);
}

// 12.5 GB/s a node over four GPUs, of which 87 % are attained.
TEST_CASE("GPUs of a node share its network", "[candidates]") {
    Allocation allocation;
    allocation.gpus_per_node = 4;
    SiteConfig site;
    site.inter_node_bandwidth_Bps = 12.5e9;
    set_links(allocation, site);
    CHECK_THAT(allocation.inter_node.bandwidth_Bps, WithinRel(0.87 * 3.125e9, 1e-12));
}

// A DGX A100 has 8 x 200 Gb/s for 8 GPUs: four of them have 800 Gb/s, 25 GB/s each.
TEST_CASE("a network nobody stated is that of the GPU's generation, and named", "[candidates]") {
    Cluster cluster;
    cluster.partitions = {partition("a", {nodes("a100", 4, 2)})};
    const Placements placements = place(cluster, {}, asking(8, 0, 0));
    REQUIRE(placements.found.size() == 1);
    CHECK_THAT(placements.found[0].allocation.inter_node.bandwidth_Bps, WithinRel(0.87 * 25e9, 1e-12));
    const std::string assumed = fmt::format("{}", fmt::join(placements.found[0].assumed, "; "));
    CHECK_THAT(assumed, Contains("2 nodes of 4 GPUs (nodes not stated)") &&
                            Contains("network 800 Gb/s a node (not stated; DGX A100"));
}

TEST_CASE("a request for larger nodes than there are is told the nodes to ask for", "[candidates]") {
    const auto placed = place_gpus(asking(16, 1, 16), 4, 8);
    REQUIRE_FALSE(placed);
    CHECK(placed.error().message ==
          "1 node of 16 GPUs is asked for, it has 8 nodes of 4 GPUs; ask for --nodes=4 with 4 GPUs each");
}

TEST_CASE("billing weights are read where Slurm prints them", "[candidates]") {
    Cluster cluster;
    cluster.partitions = {partition("a", {nodes("a100", 4, 2)}), partition("b", {nodes("a100", 4, 2)})};
    cluster.partitions[0].tres_billing_weights = "CPU=1.0,Mem=0.25G,GRES/gpu=2.5";
    cluster.partitions[1].tres_billing_weights = "GRES/gpu=2.5,GRES/gpu:a100=4,GRES/gpu:t4=1";
    const Placements placements = place(cluster, {}, four());
    REQUIRE(placements.found.size() == 2);
    CHECK(placements.found[0].billing_per_gpu == 2.5);
    CHECK(placements.found[1].billing_per_gpu == 4.0);
}

// 100 s at 4 a second, 150 s at 2, 300 s at 1: costs 400, 300, 300; products of time and cost 40000, 45000, 90000.
TEST_CASE("rankings choose as they are named", "[choice]") {
    const std::vector<Candidate> candidates = {taking(300, "slow"), taking(100, "fast"), taking(150, "middle")};
    const std::vector<Placement> placements = {billed(1.1), billed(4), billed(2)};
    CHECK(choose_candidate(candidates, placements, Ranking::first) == 0);
    CHECK(choose_candidate(candidates, placements, Ranking::fastest) == 1);
    CHECK(choose_candidate(candidates, placements, Ranking::cheapest) == 2);
    CHECK(choose_candidate(candidates, placements, Ranking::balanced) == 1);
    CHECK(choose_candidate({}, {}, Ranking::fastest) == -1);
}

TEST_CASE("a candidate that fits goes before a faster one that does not", "[choice]") {
    const std::vector<Candidate> candidates = {taking(100, "fast", false), taking(300, "slow")};
    CHECK(choose_candidate(candidates, {billed(1), billed(1)}, Ranking::fastest) == 1);
}

TEST_CASE("of several kinds of nodes in a partition the slowest counts", "[choice]") {
    const std::vector<Candidate> candidates = {taking(100, "mixed"), taking(400, "mixed"), taking(300, "plain")};
    CHECK(choose_candidate(candidates, {billed(1), billed(1), billed(1)}, Ranking::fastest) == 2);
}
