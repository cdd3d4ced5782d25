// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/nccl_model.h"

#include <catch2/catch.hpp>

#include <chrono>

#include "predictor/base/text.h"
#include "predictor/step/link_catalog.h"
#include "predictor/step/nccl_estimate.h"

using namespace dlcast;
using Catch::Matchers::WithinRel;

namespace {

// NCCL's own numbers: every factor 1, no launch, no filling, links that carry what they state.
NcclConstants plain() {
    NcclConstants c;
    for_each_constant(c, [](const std::string&, double& value) { value = 1; });
    c.launch_us = c.peer_each_us = 0;
    c.network_extra_us.fill(0);
    c.ring_fill.fill(0);
    c.tree_fill.fill(0);
    c.nvls_fill = c.nvls_tree_fill = c.peer_fill = 0;
    c.own_part = c.peer_cap_GBps = 1e12;
    return c;
}

Fabric a100(double network_GBps = 0) {
    Fabric fabric;
    fabric.node_link = NodeLink::nvlink3;
    fabric.node_GBps = 240;
    fabric.network = Network::infiniband;
    fabric.network_GBps = network_GBps;
    return fabric;
}

double us(Collective collective, double bytes, int ranks_per_node, int nodes, const Fabric& fabric) {
    const auto time = nccl_time(collective, bytes, ranks_per_node, nodes, fabric, plain());
    REQUIRE(time);
    return time->median_us;
}

NcclConstants shipped() {
    const std::string path = DLCAST_SOURCE_DIR "/etc/collectives.toml";
    const auto text = read_file(path, 1 << 20);
    REQUIRE(text);
    const auto fitted = parse_fitted_collectives(*text, path);
    REQUIRE(fitted);
    return fitted->constants;
}

}  // namespace

TEST_CASE("a collective of one rank costs nothing", "[nccl]") {
    for (std::size_t kind = 0; kind < collective_names.size(); ++kind) {
        const auto time = nccl_time(static_cast<Collective>(kind), 1e9, 1, 1, Fabric{}, shipped());
        REQUIRE(time);
        CHECK(time->median_us == 0);
    }
}

// Ring in LL: 6.6 us and 2 x 7 hops of 0.6 us make 15.0; tree in LL: 6.8 and 2 x 7 x 0.6 make 15.2.
TEST_CASE("an all-reduce of nothing costs the start-up and the hops of the faster algorithm", "[nccl]") {
    CHECK_THAT(us(Collective::all_reduce, 0, 8, 1, a100()), WithinRel(15.0, 1e-9));
}

// Tree in LL: 6.8 + 2 (7 x 0.6 + log2(2) x 5) = 25.2. The ring: 6.6 + 28 x 1 (a hop is no less than handing a message
// to the NIC) + 2 x 2.7 = 40.0.
TEST_CASE("between nodes the tree beats the ring for small sizes", "[nccl]") {
    CHECK_THAT(us(Collective::all_reduce, 0, 8, 2, a100(200)), WithinRel(25.2, 1e-9));
    Fabric ring = a100(200);
    ring.settings.tree = false;
    CHECK_THAT(us(Collective::all_reduce, 0, 8, 2, ring), WithinRel(40.0, 1e-9));
}

// Simple ring: 8.4 + 7 x 3.4 = 32.2 us, and 7/8 of 9.6 GB over 240 GB/s, 35,000 us.
TEST_CASE("a large all-gather runs at the rate of the link", "[nccl]") {
    CHECK_THAT(us(Collective::all_gather, 9.6e9, 8, 1, a100()), WithinRel(35032.2, 1e-9));
}

// Simple tree of two nodes: algbw = min(240, 2 x 50) / 2 = 50 GB/s, so 10 GB take 200,000 us; latency
// 8.4 + 2 (7 x 4 + 14) = 92.4 us.
TEST_CASE("two nodes exchange each byte once each way", "[nccl]") {
    CHECK_THAT(us(Collective::all_reduce, 10e9, 8, 2, a100(50)), WithinRel(200092.4, 1e-9));
}

// A pair runs over its bridge; four GPUs cross PCIe 4 through host memory, whatever the bridge carries.
TEST_CASE("bridges join pairs alone", "[nccl]") {
    Fabric bridged = a100();
    bridged.node_link = NodeLink::bridge;
    Fabric host = a100();
    host.node_link = NodeLink::host;
    host.node_GBps = 32;
    CHECK(us(Collective::all_reduce, 1e9, 2, 1, bridged) == us(Collective::all_reduce, 1e9, 2, 1, a100()));
    CHECK(us(Collective::all_reduce, 1e9, 4, 1, bridged) == us(Collective::all_reduce, 1e9, 4, 1, host));
}

TEST_CASE("on one node the network plays no part, and a domain over nodes is one node", "[nccl]") {
    const NcclConstants c = shipped();
    Fabric domain = a100();
    domain.domain_ranks = 72;
    for (std::size_t kind = 0; kind < collective_names.size(); ++kind)
        for (const double bytes : {8.0, 1e5, 1e7, 1e9}) {
            const auto collective = static_cast<Collective>(kind);
            const auto flat = nccl_time(collective, bytes, 8, 1, a100(), c);
            const auto hierarchical = nccl_time(collective, bytes, 8, 1, a100(25), c);
            const auto over_nodes = nccl_time(collective, bytes, 4, 2, domain, c);
            REQUIRE((flat && hierarchical && over_nodes));
            CHECK(flat->median_us == hierarchical->median_us);
            CHECK(flat->median_us == over_nodes->median_us);
        }
}

TEST_CASE("more bytes never take less time, more bandwidth never more", "[nccl]") {
    const NcclConstants c = shipped();
    for (std::size_t kind = 0; kind < collective_names.size(); ++kind)
        for (std::size_t link = 0; link < node_link_names.size(); ++link)
            for (std::size_t network = 0; network < network_names.size(); ++network)
                for (const int nodes : {1, 2, 3, 16})
                    for (const int ranks : {1, 2, 8}) {
                        Fabric fabric = a100(nodes > 1 ? 25 : 0);
                        fabric.node_link = static_cast<NodeLink>(link);
                        fabric.network = static_cast<Network>(network);
                        Fabric faster = fabric;
                        faster.node_GBps *= 1.5;
                        faster.network_GBps *= 1.5;
                        double before = 0;
                        for (double bytes = 1; bytes < 1e11; bytes *= 3) {
                            const auto collective = static_cast<Collective>(kind);
                            const auto t = nccl_time(collective, bytes, ranks, nodes, fabric, c);
                            const auto f = nccl_time(collective, bytes, ranks, nodes, faster, c);
                            REQUIRE((t && f));
                            REQUIRE(t->median_us >= before);
                            REQUIRE(f->median_us <= t->median_us);
                            before = t->median_us;
                        }
                    }
}

TEST_CASE("a collective that cannot run says why", "[nccl]") {
    const NcclConstants c = shipped();
    CHECK_FALSE(nccl_time(Collective::reduce, 8, 0, 1, a100(), c));
    CHECK_FALSE(nccl_time(Collective::reduce, -1, 8, 1, a100(), c));
    const auto no_link = nccl_time(Collective::reduce, 8, 8, 1, Fabric{}, c);
    REQUIRE_FALSE(no_link);
    CHECK_THAT(no_link.error().message, Catch::Contains("without bandwidth"));
    const auto no_network = nccl_time(Collective::reduce, 8, 8, 2, a100(), c);
    REQUIRE_FALSE(no_network);
    CHECK_THAT(no_network.error().message, Catch::Contains("between nodes"));
}

// 15.0 us as above; 8 bytes on one node take the spread of small sizes on one node.
TEST_CASE("an estimate is the model's time in seconds, with its spread", "[nccl]") {
    FittedCollectives fitted;
    fitted.constants = plain();
    fitted.spread.one_node = {0.1, 0.2, 0.3};
    const auto estimate = estimate_collective(Collective::all_reduce, 0, 8, 1, a100(), fitted);
    REQUIRE(estimate);
    CHECK_THAT(estimate->median_s, WithinRel(15.0e-6, 1e-9));
    CHECK(estimate->log_sd == 0.1);
    CHECK(estimate_collective(Collective::all_reduce, 1e9, 1, 1, a100(), fitted)->log_sd == 0);
    CHECK_FALSE(estimate_collective(Collective::all_reduce, 1e9, 8, 2, a100(), fitted));
}

// Microseconds or less: a step of 96 blocks asks for hundreds. Ten times the time measured, for slow and loaded hosts.
TEST_CASE("a thousand forecasts take far less than a second", "[nccl]") {
    const NcclConstants c = shipped();
    const auto start = std::chrono::steady_clock::now();
    double sum = 0;
    for (int i = 0; i < 1000; ++i) sum += nccl_time(Collective::all_reduce, 1e3 * i, 8, 16, a100(200), c)->median_us;
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    CHECK(sum > 0);
    CHECK(taken.count() < 10e-3);
}
