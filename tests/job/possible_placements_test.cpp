// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/possible_placements.h"

#include <catch2/catch.hpp>

using namespace dlcast;
using Catch::Matchers::Contains;

namespace {
Placement on(const std::string& partition, int nodes, int gpus_per_node) {
    Placement placement;
    placement.allocation.partition = partition;
    placement.allocation.nodes = nodes;
    placement.allocation.gpus_per_node = gpus_per_node;
    return placement;
}
}  // namespace

TEST_CASE("a partition whose nodes hold no group of tensor ranks is passed over with the reason", "[job]") {
    Workload workload;
    workload.training.batch_size = 8;
    workload.training.parallel.tp = 8;
    Placements placements{{on("small", 2, 4), on("large", 1, 8)}, {}};
    REQUIRE(keep_possible(workload, placements));
    REQUIRE(placements.found.size() == 1);
    CHECK(placements.found[0].allocation.partition == "large");
    CHECK_THAT(placements.misses.at(0), Contains("partition small") && Contains("tp 8 spans nodes of 4"));
}

TEST_CASE("where no place is possible the first reason is the error", "[job]") {
    Workload workload;
    workload.training.global_batch = 100;
    Placements placements{{on("a", 1, 8), on("b", 1, 3)}, {}};
    const auto status = keep_possible(workload, placements);
    REQUIRE_FALSE(status);
    CHECK_THAT(status.error().message, Contains("96 or 104"));
    Placements none;
    CHECK(keep_possible(workload, none));
}
