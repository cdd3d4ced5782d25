// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/distinct_queries.h"

#include <catch2/catch.hpp>

using namespace dlcast;

TEST_CASE("queries are the same whose partitions differ by name alone", "[step]") {
    const Workload workload, other;
    Allocation a100;
    a100.partition = "first";
    a100.device.name = "A100-SXM4-80GB";
    Allocation same = a100, more_nodes = a100, slower = a100, less_memory = a100;
    same.partition = "second";
    more_nodes.nodes = 2;
    slower.inter_node.bandwidth_Bps = 1e9;
    less_memory.device.memory_bytes = 1e9;
    const auto distinct = distinct_queries({{&workload, a100},
                                            {&workload, same},
                                            {&workload, more_nodes},
                                            {&workload, slower},
                                            {&workload, less_memory},
                                            {&other, a100},
                                            {&workload, more_nodes}});
    CHECK(distinct.queries.size() == 5);
    CHECK(distinct.places == std::vector<std::size_t>{0, 0, 1, 2, 3, 4, 1});
    CHECK(distinct_queries({}).queries.empty());
}
