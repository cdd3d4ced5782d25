// SPDX-License-Identifier: GPL-2.0-or-later
// A site may have thousands of partitions of the same nodes: a step is estimated once for all of them.
#pragma once

#include <cstddef>
#include <vector>

#include "predictor/step/step_estimate.h"

namespace dlcast {

struct DistinctQueries {
    std::vector<StepQuery> queries;   // no two of the same workload on the same allocation, its partition's name aside
    std::vector<std::size_t> places;  // of each query asked, in order, its place in `queries`
};

DistinctQueries distinct_queries(const std::vector<StepQuery>& asked);

}  // namespace dlcast
