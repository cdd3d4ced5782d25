// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/possible_placements.h"

#include <fmt/format.h>

#include "predictor/step/micro_batch.h"

namespace dlcast {
namespace {

Status check(const Workload& workload, const Allocation& allocation) {
    const auto layout = make_layout(workload.training.parallel, allocation);
    if (!layout) return layout.error();
    const auto batch = micro_batch_of(workload.training, *layout);
    if (!batch) return batch.error();
    return ok();
}

}  // namespace

Status keep_possible(const Workload& workload, Placements& placements) {
    Status first = ok();
    std::vector<Placement> possible;
    for (Placement& placement : placements.found) {
        const Status status = check(workload, placement.allocation);
        if (status) {
            possible.push_back(std::move(placement));
            continue;
        }
        if (first) first = status;
        const std::string& partition = placement.allocation.partition;
        placements.misses.push_back(partition.empty()
                                        ? status.error().message
                                        : fmt::format("partition {}: {}", partition, status.error().message));
    }
    placements.found = std::move(possible);
    return placements.found.empty() ? first : ok();
}

}  // namespace dlcast
