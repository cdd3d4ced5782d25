// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/distinct_queries.h"

#include <algorithm>

namespace dlcast {
namespace {

bool is_same(const StepQuery& a, const StepQuery& b) {
    const Allocation &x = a.allocation, &y = b.allocation;
    return a.workload == b.workload && x.nodes == y.nodes && x.gpus_per_node == y.gpus_per_node &&
           x.device == y.device && x.intra_node == y.intra_node && x.inter_node == y.inter_node;
}

}  // namespace

DistinctQueries distinct_queries(const std::vector<StepQuery>& asked) {
    DistinctQueries out;
    for (const StepQuery& query : asked) {
        const auto found = std::find_if(out.queries.begin(), out.queries.end(),
                                        [&](const StepQuery& known) { return is_same(known, query); });
        out.places.push_back(static_cast<std::size_t>(found - out.queries.begin()));
        if (found == out.queries.end()) out.queries.push_back(query);
    }
    return out;
}

}  // namespace dlcast
