// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace dlcast {

Group place_ranks(int ranks, int stride, const Allocation& allocation) {
    const int per_node = std::clamp(allocation.gpus_per_node / std::max(1, stride), 1, ranks);
    return {.nodes = (ranks + per_node - 1) / per_node,
            .ranks_per_node = per_node,
            .intra_node = allocation.intra_node,
            .inter_node = allocation.inter_node};
}

namespace {

// "4 or 8": the divisors of `whole` nearest to `wanted`, below and above.
std::string nearest_divisors(int whole, int wanted) {
    int below = 0, above = 0;
    for (int d = 1; d <= whole; ++d) {
        if (whole % d != 0) continue;
        if (d < wanted) below = d;
        if (d > wanted && above == 0) above = d;
    }
    if (below > 0 && above > 0) return fmt::format("{} or {}", below, above);
    return fmt::format("{}", below > 0 ? below : above);
}

std::string product_text(const Parallel& p) {
    std::string out = p.dp > 0 ? fmt::format("dp {} x ", p.dp) : "";
    return out + fmt::format("tp {} x pp {} x cp {}", p.tp, p.pp, p.cp);
}

// Degrees whose product does not make the world: which GPU counts would do, and which degrees.
Error wrong_product(const Parallel& p, const Allocation& allocation) {
    const int world = allocation.world_size();
    const char* unit = allocation.device.vendor == "cpu" ? "node" : "GPU";
    const double product = 1.0 * p.tp * p.pp * p.cp * std::max(1, p.dp);
    std::string remedy;
    if (p.dp > 0) {
        const double others = 1.0 * p.tp * p.pp * p.cp;
        const double left = world / others;
        if (left >= 1 && left == std::floor(left)) remedy = fmt::format("write dp {:.0f} or leave it out, or ", left);
        remedy += fmt::format("ask for {:.0f} {}s", product, unit);
    } else {
        const double below = std::floor(world / product) * product;
        remedy = below > 0 ? fmt::format("ask for {:.0f} or {:.0f} {}s", below, below + product, unit)
                           : fmt::format("ask for {:.0f} {}s", product, unit);
        // One degree changed, the others kept.
        const std::pair<const char*, int> degrees[] = {{"tp", p.tp}, {"pp", p.pp}, {"cp", p.cp}};
        for (const auto& [name, degree] : degrees) {
            const double rest = world / (product / degree);
            if (degree > 1 && rest >= 1 && rest == std::floor(rest) && static_cast<int>(rest) % degree != 0)
                remedy += fmt::format(", or take {} {}", name, nearest_divisors(static_cast<int>(rest), degree));
        }
    }
    return invalid_argument(fmt::format("{}: {} make {:.0f}{}, not {} {}{}; {}", p.place, product_text(p), product,
                                        p.dp > 0 ? "" : " or a multiple", world, unit, world == 1 ? "" : "s", remedy));
}

// Tensor ranks exchange activations in every layer: over a network that is hardly ever meant.
Status check_tensor_ranks(const Parallel& p, const Allocation& allocation) {
    const int per_node = allocation.gpus_per_node;
    if (allocation.nodes < 2 || p.tp == 1 || p.tp_over_nodes || per_node % p.tp == 0) return ok();
    return invalid_argument(fmt::format(
        "{}: tp {} spans nodes of {} GPU{}; take tp {}, nodes of {} GPUs, or say so with \"tp_over_nodes\": true",
        p.place, p.tp, per_node, per_node == 1 ? "" : "s", nearest_divisors(per_node, p.tp), p.tp));
}

Status check_expert_ranks(const Parallel& p, int replicas) {
    if (p.ep < 1) return invalid_argument(p.place + ": every degree should be at least 1");
    if (replicas % p.ep == 0) return ok();
    return invalid_argument(fmt::format("{}: ep {} does not divide {} data ranks; take ep {}", p.place, p.ep, replicas,
                                        nearest_divisors(replicas, p.ep)));
}

}  // namespace

Result<Layout> make_layout(const Parallel& p, const Allocation& allocation) {
    const double others = 1.0 * p.tp * p.pp * p.cp;  // double: degrees may be forged
    const int world = allocation.world_size();
    if (p.dp < 0 || p.tp < 1 || p.pp < 1 || p.cp < 1 || p.vp < 1)
        return invalid_argument(p.place + ": every degree should be at least 1");
    if (world < 1) return invalid_argument("an allocation without GPUs; ask for at least one");
    const double data = p.dp > 0 ? p.dp : world / others;
    if (data < 1 || data != static_cast<int>(data) || data * others != world) return wrong_product(p, allocation);
    if (auto status = check_tensor_ranks(p, allocation); !status) return status.error();
    if (auto status = check_expert_ranks(p, static_cast<int>(data) * p.cp); !status) return status.error();
    Layout layout;
    layout.dp = static_cast<int>(data);
    layout.tp = p.tp;
    layout.pp = p.pp;
    layout.vp = p.vp;
    layout.cp = p.cp;
    layout.ep = p.ep;
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
