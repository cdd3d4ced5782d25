// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/layout.h"

#include <fmt/format.h>

#include <algorithm>

namespace dlcast {

Group place_ranks(int ranks, int stride, const Allocation& allocation) {
    const int per_node = std::clamp(allocation.gpus_per_node / std::max(1, stride), 1, ranks);
    return {.nodes = (ranks + per_node - 1) / per_node,
            .ranks_per_node = per_node,
            .intra_node = allocation.intra_node,
            .inter_node = allocation.inter_node};
}

Result<Layout> make_layout(const Parallel& p, const Allocation& allocation) {
    const double others = 1.0 * p.tp * p.pp * p.cp;  // double: degrees may be forged
    const int world = allocation.world_size();
    if (p.dp < 0 || p.tp < 1 || p.pp < 1 || p.cp < 1 || p.vp < 1)
        return invalid_argument("parallel: every degree should be at least 1");
    if (world < 1) return invalid_argument("an allocation without GPUs; ask for at least one");
    const double data = p.dp > 0 ? p.dp : world / others;
    if (data < 1 || data != static_cast<int>(data) || data * others != world)
        return invalid_argument(fmt::format(
            "parallel: {}tp {} x pp {} x cp {} do not make {} GPUs; ask for another GPU count or change the degrees",
            p.dp > 0 ? fmt::format("dp {} x ", p.dp) : "", p.tp, p.pp, p.cp, world));
    Layout layout;
    layout.dp = static_cast<int>(data);
    layout.tp = p.tp;
    layout.pp = p.pp;
    layout.vp = p.vp;
    layout.cp = p.cp;
    layout.ep = std::max(1, p.ep);
    layout.sequence_parallel = p.sp;
    // Context ranks hold equal weights, so gradients are reduced and states sharded over data and context ranks
    // together.
    const int replicas = layout.dp * layout.cp;
    const int in_node = std::max(1, std::min(replicas, allocation.gpus_per_node / p.tp));
    const int zero = p.fsdp == "full" || p.fsdp == "hybrid" ? 3 : p.fsdp == "grad_op" ? 2 : p.zero;
    const int shards = p.fsdp == "hybrid" ? in_node : replicas;
    if (zero >= 1) layout.optimizer_shards = shards;
    if (zero >= 2) layout.gradient_shards = shards;
    if (zero >= 3) layout.weight_shards = shards;
    layout.tensor = place_ranks(layout.tp, 1, allocation);
    layout.context = place_ranks(layout.cp, layout.tp, allocation);
    layout.data = place_ranks(replicas, layout.tp, allocation);
    return layout;
}

}  // namespace dlcast
