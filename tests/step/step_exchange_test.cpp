// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/step_exchange.h"

#include "predictor/step/step_physics.h"
#include "tests/step/step_test_support.h"

using namespace dlcast;
using Catch::Matchers::WithinRel;

namespace {

// A100s: NVLink 3 in nodes of eight, a network adapter of 25 GB/s each.
Allocation nodes_of(int nodes, int gpus_per_node) {
    Allocation out;
    out.device = test::round_device();
    out.device.link = "nvlink3";
    out.nodes = nodes;
    out.gpus_per_node = gpus_per_node;
    out.intra_node = intra_node_link(out.device);
    out.inter_node = {5e-6, 0.87 * 25e9, "IB"};
    return out;
}

// A block of two layers of 4096 x 4096: 128 MB in fp32.
Workload blocks(int count) {
    Workload workload = test::linear_net(2 * count, 4096, 1024);
    for (std::size_t i = 0; i < workload.model.layers.size(); ++i)
        workload.model.layers[i].block = static_cast<int>(i) / 2;
    return workload;
}

StepWork work_on(const Workload& workload, const Allocation& allocation) {
    auto work = step_work(workload, allocation);
    REQUIRE(work);
    return *work;
}

StepTimes<double> times_on(const Workload& workload, const Allocation& allocation) {
    return step_times(work_on(workload, allocation), prior_coefficients());
}

}  // namespace

TEST_CASE("the constants of collectives that are compiled in parse", "[step_exchange]") {
    CHECK(shipped_collectives().constants.launch_us > 0);
    CHECK_FALSE(shipped_collectives().provenance.empty());
}

TEST_CASE("one rank exchanges nothing", "[step_exchange]") {
    for (const char* fsdp : {"", "full", "grad_op", "hybrid"}) {
        Workload workload = blocks(4);
        workload.training.parallel.fsdp = fsdp;
        CHECK(times_on(workload, nodes_of(1, 1)).communication_s == 0);
    }
}

// A first bucket of 1 MiB is full with the first layer of 64 MiB; each further layer fills one of 25 MiB.
TEST_CASE("gradients travel in buckets, last layer first", "[step_exchange]") {
    const StepWork work = work_on(blocks(4), nodes_of(1, 8));
    REQUIRE(work.exchange.buckets.size() == 8);
    double before = 0;
    for (const GradientBucket& bucket : work.exchange.buckets) {
        CHECK(bucket.ready > before);
        before = bucket.ready;
        // 2 x 7/8 x 64 MiB over 240 GB/s of NVLink 3: 0.49 ms, and what protocols cost.
        CHECK(bucket.reduce.alone_s > 0.49e-3);
        CHECK(bucket.reduce.alone_s < 0.8e-3);
    }
    CHECK_THAT(before, WithinRel(1.0, 1e-12));
}

TEST_CASE("small layers share a bucket", "[step_exchange]") {
    Workload workload = test::linear_net(64, 512, 64);  // 1 MiB each: the first alone, then 25 a bucket
    CHECK(work_on(workload, nodes_of(1, 8)).exchange.buckets.size() == 1 + 3);
    workload.training.framework = "tensorflow2+horovod";  // 64 MiB
    CHECK(work_on(workload, nodes_of(1, 8)).exchange.buckets.size() == 1);
    workload.training.framework = "nemo";  // 160 MB
    CHECK(work_on(workload, nodes_of(1, 8)).exchange.buckets.size() == 1);
}

TEST_CASE("without no_sync gradients travel behind every micro-step", "[step_exchange]") {
    Workload workload = blocks(2);
    workload.training.grad_accum = 4;
    const StepTimes<double> once = times_on(workload, nodes_of(1, 8));
    workload.training.parallel.no_sync = false;
    CHECK_THAT(times_on(workload, nodes_of(1, 8)).communication_s, WithinRel(4 * once.communication_s, 1e-12));
}

TEST_CASE("sharding inside nodes is full sharding on one node", "[step_exchange]") {
    Workload workload = blocks(4);
    workload.training.parallel.fsdp = "full";
    const double full_s = times_on(workload, nodes_of(1, 8)).step_s;
    workload.training.parallel.fsdp = "hybrid";
    CHECK(times_on(workload, nodes_of(1, 8)).step_s == full_s);
    workload.training.parallel.fsdp = "";
    workload.training.parallel.zero = 3;
    CHECK(times_on(workload, nodes_of(1, 8)).step_s == full_s);
}

// Three passes of the weights' bytes a micro-step against two where forward keeps what it gathered.
TEST_CASE("grad_op gathers once, full sharding twice", "[step_exchange]") {
    Workload workload = blocks(4);
    workload.training.parallel.fsdp = "full";
    const double full_s = times_on(workload, nodes_of(1, 8)).communication_s;
    workload.training.parallel.fsdp = "grad_op";
    CHECK_THAT(times_on(workload, nodes_of(1, 8)).communication_s, WithinRel(full_s * 2 / 3, 0.02));
}

TEST_CASE("more bytes never take less time, whatever the layout", "[step_exchange]") {
    Parallel data, sharded, hybrid, zero;
    sharded.fsdp = "full";
    hybrid.fsdp = "hybrid";
    zero.zero = 1;
    for (const Parallel& parallel : {data, sharded, hybrid, zero})
        for (const int nodes : {1, 2, 16}) {
            double before_s = 0;
            for (int count = 1; count <= 8; ++count) {
                Workload workload = blocks(count);
                workload.training.parallel = parallel;
                const double now_s = times_on(workload, nodes_of(nodes, 8)).communication_s;
                CHECK(now_s > before_s);
                before_s = now_s;
            }
        }
}

TEST_CASE("a unit's weights are gathered while the unit before computes", "[step_exchange]") {
    Workload workload = blocks(16);
    workload.training.batch_size = 65536;  // compute hides nearly everything but the first gather and the last scatter
    workload.training.parallel.fsdp = "full";
    StepCoefficients c = prior_coefficients();
    c[static_cast<std::size_t>(StepConstant::sharded_overlap)] = fitted_value(StepConstant::sharded_overlap, 1 - 1e-9);
    const StepTimes<double> t = step_times(work_on(workload, nodes_of(1, 8)), c);
    CHECK_THAT(t.exposed_s / t.communication_s, WithinRel(3.0 / 48, 0.02));  // of 16 units three times
}

TEST_CASE("data ranks on other nodes send over the network", "[step_exchange]") {
    const StepWork inside = work_on(blocks(2), nodes_of(1, 8)), across = work_on(blocks(2), nodes_of(2, 8));
    CHECK(inside.exchange.buckets.front().reduce.wire == Wire::nvlink);
    CHECK(across.exchange.buckets.front().reduce.wire == Wire::network);
    CHECK(across.exchange.buckets.front().reduce.alone_s > inside.exchange.buckets.front().reduce.alone_s);
    Allocation slow = nodes_of(2, 8);
    slow.inter_node.kind = "TCP";
    CHECK(work_on(blocks(2), slow).exchange.buckets.front().reduce.alone_s >
          across.exchange.buckets.front().reduce.alone_s);
}

TEST_CASE("links that an allocation states replace the device's own", "[step_exchange]") {
    Allocation allocation = nodes_of(1, 8);
    CHECK(fabric_of(allocation).node_link == NodeLink::nvlink3);
    CHECK_THAT(fabric_of(allocation).node_GBps, WithinRel(300.0, 1e-9));
    allocation.intra_node = *link_named("pcie4");
    CHECK(fabric_of(allocation).node_link == NodeLink::pcie);
    CHECK_THAT(fabric_of(allocation).node_GBps, WithinRel(32.0, 1e-9));
    CHECK(fabric_of(allocation).network == Network::infiniband);
    CHECK_THAT(fabric_of(allocation).network_GBps, WithinRel(200.0, 1e-9));  // eight adapters
    allocation.inter_node.kind = "";
    allocation.inter_node.latency_s = 30e-6;
    CHECK(fabric_of(allocation).network == Network::tcp);
}

// Two products a block of 1024 tokens: experts on 8 ranks hold an eighth each and meet eight times as many rows.
TEST_CASE("experts' ranks share the experts and exchange tokens", "[step_exchange]") {
    Workload workload = blocks(2);
    for (Layer& layer : workload.model.layers) {
        layer.experts = 8;
        layer.parameters *= 8;
    }
    workload.model.parameters = workload.model.trainable_parameters = 4ull * 8 * 4096 * 4096;
    const StepWork all = work_on(workload, nodes_of(1, 8));
    workload.training.parallel.ep = 8;
    const StepWork shared = work_on(workload, nodes_of(1, 8));
    CHECK_THAT(shared.parameters, WithinRel(all.parameters / 8, 1e-12));
    CHECK(all.exchange.expert_messages == 0);
    CHECK(shared.exchange.expert_messages == 2 * 2 * 2);  // there and back, forward and backward, two blocks
    CHECK(shared.exchange.experts.alone_s > 0);
    CHECK(shared.exchange.buckets.empty());  // no other data rank holds these experts
    const StepTimes<double> t = step_times(shared, prior_coefficients());
    // As many operations in fewer, larger products: waves of tiles differ.
    CHECK_THAT(t.forward_s, WithinRel(step_times(all, prior_coefficients()).forward_s, 0.15));
}

// Only the weights that are updated are gathered behind the update.
TEST_CASE("ZeRO 1 gathers no frozen weights", "[step_exchange]") {
    Workload workload = blocks(8);
    workload.training.parallel.zero = 1;
    const double all_s = work_on(workload, nodes_of(1, 8)).exchange.updated_weights.alone_s;
    workload.model.trainable_parameters = workload.model.parameters / 1000;
    CHECK(work_on(workload, nodes_of(1, 8)).exchange.updated_weights.alone_s < all_s / 10);
}
