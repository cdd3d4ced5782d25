// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/nccl_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "predictor/step/nccl_tuner.h"

namespace dlcast {
namespace {

constexpr double unlimited = 1e12;           // GB/s
constexpr double between_pairs_GBps = 32.0;  // PCIe 4 x16

template <typename Array, typename Kind>
double of(const Array& values, Kind kind) {
    return values[static_cast<std::size_t>(kind)];
}

double microseconds(double bytes, double GBps) { return bytes / (1e3 * GBps); }

// Everything the algorithms share about one call.
struct Call {
    Collective collective;
    double bytes;
    double ranks, nodes, local;  // nodes: NVLink domains; local: ranks in each
    Fabric fabric;
    const NcclConstants& c;
    double link_GBps, network_GBps;  // sustained, of one GPU and of one domain
    double fill;                     // factor on the filling of pipelines
    double own_us;                   // copy of a rank's own part

    // Latency, wire time and the filling of the pipeline; chunks, and with them the filling, grow up to a point.
    double pipeline_us(double latency_us, double wire_us, double chunk_fill) const {
        const double full_us = c.full_pipeline * latency_us;
        const double growing_us = wire_us > 0 ? wire_us * full_us / (wire_us + full_us) : 0;
        return latency_us + wire_us + chunk_fill * fill * std::sqrt(latency_us * growing_us);
    }
    bool several() const { return nodes > 1; }
    bool all_reduce() const { return collective == Collective::all_reduce; }
    bool gathers() const { return collective == Collective::all_gather || collective == Collective::reduce_scatter; }
    bool rooted() const { return collective == Collective::broadcast || collective == Collective::reduce; }
    bool nvlink() const { return fabric.node_link <= NodeLink::bridge; }
    bool multicast() const {  // NVLink SHARP: an NVSwitch from Hopper on
        return (fabric.node_link == NodeLink::nvlink4 || fabric.node_link == NodeLink::nvlink5) && local > 2;
    }
};

// What a ring over all GPUs of a node crosses. Bridges join pairs alone; between pairs it goes through host memory, as
// peer to peer is off by default between GPUs that share no PCIe switch.
Fabric crossed(const Fabric& fabric, double local) {
    Fabric out = fabric;
    if (fabric.node_link == NodeLink::bridge && local > 2) {
        out.node_link = NodeLink::host;
        out.node_GBps = std::min(fabric.node_GBps, between_pairs_GBps);
    }
    return out;
}

Call describe(Collective collective, double bytes, int ranks_per_node, int nodes, const Fabric& stated,
              const NcclConstants& c, const SiteFactors& site) {
    const double ranks = static_cast<double>(nodes) * ranks_per_node;
    const double domains = stated.domain_ranks > 0 ? std::ceil(ranks / stated.domain_ranks) : nodes;
    Call call{collective, bytes,     ranks, domains, ranks / domains, crossed(stated, ranks / domains), c,
              0,          unlimited, 1,     0};
    const Fabric& fabric = call.fabric;
    // Between two ranks a broadcast moves one way; in all other patterns host memory is read and written at once.
    const bool one_way = collective == Collective::sendrecv || (call.rooted() && ranks == 2);
    const bool duplex = fabric.node_link == NodeLink::host && !one_way;
    call.link_GBps =
        fabric.node_GBps * of(c.link_efficiency, fabric.node_link) * (duplex ? c.duplex_host : 1) * site.bandwidth;
    if (call.local == 1 && !(call.link_GBps > 0)) call.link_GBps = unlimited;  // not used between GPUs
    if (call.several()) {
        const bool staged = fabric.network == Network::efa &&
                            (fabric.node_link == NodeLink::nvlink2 || fabric.node_link >= NodeLink::bridge);
        call.network_GBps = fabric.network_GBps * (nodes / domains) * of(c.network_efficiency, fabric.network) *
                            (staged ? c.staged_network : 1) * site.bandwidth;
        call.fill = of(c.network_fill, fabric.network);
    }
    // Out of place, a rank also copies its own part; inside the GPU, and no slower behind a slow link.
    if (call.gathers() || collective == Collective::alltoall)
        call.own_us = microseconds(bytes / ranks, c.own_part * std::max(300.0, fabric.node_GBps));
    return call;
}

double extra_us(const Call& call, Protocol protocol) {
    return of(call.c.network_extra_us, call.fabric.network) * (protocol == Protocol::simple ? 2 : 1);
}

double hop_us(const Call& call, const nccl::PerProtocol& nvlink, const nccl::PerProtocol& pcie, Protocol protocol) {
    return of(call.nvlink() ? nvlink : pcie, protocol) * call.c.hop * of(call.c.link_hop, call.fabric.node_link);
}

double ll_cap_GBps(const Call& call) {
    const std::size_t nodes = static_cast<std::size_t>(std::min(call.nodes, 3.0)) - 1;
    std::size_t row = call.fabric.amd_host ? 1 : 0;
    if (!call.several())
        row = call.nvlink() && call.fabric.node_link != NodeLink::bridge
                  ? static_cast<std::size_t>(call.fabric.node_link)
                  : 1;
    return nccl::ll_cap_GBps[row][nodes];
}

// Small messages need flags that only ordered stores through NVLink and GPUDirect keep; over EFA and GPUDirect-TCPX
// NCCL is run with Simple alone.
bool runs(const Call& call, Protocol protocol) {
    if (protocol == Protocol::simple) return true;
    const Network network = call.fabric.network;
    if (call.several() && (network == Network::efa || network == Network::tcpx || network == Network::tcpxo))
        return false;
    if (protocol == Protocol::ll) return call.fabric.settings.ll;
    return call.fabric.settings.ll128 && call.nvlink() && !(call.several() && network == Network::tcp);
}

class Fastest {
public:
    explicit Fastest(const Call& call) : call_(call) {}
    void offer(Algorithm algorithm, Protocol protocol, double latency_us, double GBps, double fill) {
        const double wire_us = microseconds(call_.bytes, GBps) + call_.own_us;
        const double t_us = call_.pipeline_us(latency_us, wire_us, fill);
        if (t_us < best_.median_us) best_ = {t_us, algorithm, protocol};
    }
    const CollectiveTime& best() const { return best_; }

private:
    const Call& call_;
    CollectiveTime best_{std::numeric_limits<double>::infinity()};
};

void offer_ring(const Call& call, Protocol protocol, Fastest& fastest) {
    const NcclConstants& c = call.c;
    double hop = hop_us(call, nccl::ring_nvlink_us, nccl::ring_pcie_us, protocol) * c.ring_hop;
    double between = 0, latency = of(nccl::ring_base_us, protocol) * of(c.base, protocol);
    if (call.several()) {
        const auto& network = call.local > 1 ? nccl::ring_network_us : nccl::tree_network_us;
        between = of(network, protocol) * c.network_hop + extra_us(call, protocol);
        const double post = (call.fabric.amd_host ? nccl::post_amd_us : nccl::post_intel_us) * c.hop;
        hop = std::max(hop, protocol == Protocol::simple ? 3 * post : post);
    }
    if (!call.all_reduce()) latency *= c.one_way_base;
    double steps = call.ranks;
    if (call.rooted()) {
        latency += hop + between;
    } else {
        const double phases = call.all_reduce() ? 2 : 1;
        steps = phases * (call.ranks - 1);
        const double network_steps = phases * (call.nodes - 1);
        latency += (steps - network_steps) * hop + network_steps * between;
    }
    double bus = std::min(call.link_GBps * of(c.protocol_bandwidth, protocol), call.network_GBps);
    if (protocol == Protocol::ll) bus = std::min(ll_cap_GBps(call), bus * nccl::ring_ll_share);
    if (protocol == Protocol::ll128) bus *= nccl::ring_ll128_share;
    fastest.offer(Algorithm::ring, protocol, latency, bus * call.ranks / steps, of(c.ring_fill, protocol));
}

// Two nodes are each other's parent in one of the two trees: the network carries each byte once each way.
double tree_network_GBps(const Call& call) { return call.nodes == 2 ? 2 * call.network_GBps : call.network_GBps; }

void offer_tree(const Call& call, Protocol protocol, Fastest& fastest) {
    const NcclConstants& c = call.c;
    const double hop = hop_us(call, nccl::tree_nvlink_us, nccl::tree_pcie_us, protocol) * c.tree_hop;
    double latency = of(nccl::tree_base_us, protocol) * of(c.base, protocol) + 2 * (call.local - 1) * hop;
    if (call.several())
        latency += 2 * std::log2(call.nodes) *
                   (of(nccl::tree_network_us, protocol) * c.network_hop + extra_us(call, protocol));
    double bus = std::min(call.link_GBps * of(c.protocol_bandwidth, protocol), tree_network_GBps(call));
    if (protocol == Protocol::ll) bus = std::min(ll_cap_GBps(call), bus * nccl::tree_ll_share);
    if (protocol == Protocol::ll128) bus *= call.several() ? nccl::tree_ll128_share : nccl::tree_ll128_share_one_node;
    fastest.offer(Algorithm::tree, protocol, latency, bus * 0.5, of(c.tree_fill, protocol));
}

void offer_nvls(const Call& call, double stated_GBps, Fastest& fastest) {
    const NcclConstants& c = call.c;
    const bool blackwell = call.fabric.node_link == NodeLink::nvlink5;
    const double bus = 2 * stated_GBps * (blackwell ? c.nvls_blackwell : c.nvls_hopper);
    double latency = nccl::nvls_nvlink_us * c.nvls_latency;
    if (call.several()) {
        latency +=
            2 * std::log2(call.nodes) * (nccl::nvls_tree_network_us * c.network_hop + extra_us(call, Protocol::simple));
        const double inside = bus * call.ranks / (2 * (call.ranks - 1)) * (call.nodes > 2 ? c.nvls_tree_inner : 1);
        fastest.offer(Algorithm::nvls_tree, Protocol::simple, latency, std::min(inside, tree_network_GBps(call) * 0.5),
                      c.nvls_tree_fill);
    } else {
        const double steps = (call.all_reduce() ? 2 : 1) * (call.ranks - 1);
        const double rate = call.all_reduce() ? bus : bus * 0.5;
        fastest.offer(Algorithm::nvls, Protocol::simple, latency, rate * call.ranks / steps, c.nvls_fill);
    }
}

// The switches of the network reduce: each byte crosses it once each way.
void offer_collnet(const Call& call, Fastest& fastest) {
    const NcclConstants& c = call.c;
    const double latency = 2 * (call.local - 1) * nccl::collnet_chain_us * c.hop +
                           nccl::collnet_chain_network_us * c.network_hop + extra_us(call, Protocol::simple);
    const double bus = std::min(call.link_GBps, 2 * call.network_GBps);
    fastest.offer(Algorithm::collnet, Protocol::simple, latency, bus * 0.5, of(c.tree_fill, Protocol::simple));
}

void offer_pat(const Call& call, Fastest& fastest) {
    const NcclConstants& c = call.c;
    const double hop = nccl::pat_network_us * c.network_hop + extra_us(call, Protocol::simple);
    const double latency =
        nccl::pat_base_us * of(c.base, Protocol::simple) + std::log2(call.nodes) * hop / 3.5 + 2.8 * call.ranks;
    fastest.offer(Algorithm::pat, Protocol::simple, latency,
                  call.network_GBps * nccl::pat_share * call.ranks / (call.ranks - 1),
                  of(c.ring_fill, Protocol::simple));
}

// No tuner entry: all peers at once, inside the node and between nodes side by side.
CollectiveTime peers_time(const Call& call) {
    const NcclConstants& c = call.c;
    const bool pair = call.collective == Collective::sendrecv;
    const double peers = pair ? 1 : call.ranks - 1;
    const double hop = hop_us(call, nccl::ring_nvlink_us, nccl::ring_pcie_us, Protocol::ll);
    double latency = of(nccl::ring_base_us, Protocol::ll) * c.peer_base + hop + peers * c.peer_each_us;
    const double inside_peers = pair ? 1 : call.local - 1;
    const double link = std::min(call.link_GBps * c.peer_bandwidth, inside_peers * c.peer_cap_GBps);
    double wire = inside_peers > 0 ? microseconds(call.bytes * (pair ? 1 : inside_peers / call.ranks), link) : 0;
    if (call.several()) {
        latency += nccl::ring_network_us[2] * c.network_hop + extra_us(call, Protocol::simple);
        // In a pair one rank of each node crosses, over its own NIC; a scatter leaves from one node over all its NICs.
        double bytes = call.bytes * (call.nodes - 1) / call.nodes;
        if (pair) bytes = call.bytes * std::max(1, call.fabric.nics_per_node);
        if (call.collective == Collective::alltoall) bytes *= call.local;
        wire = std::max(wire, microseconds(bytes, call.network_GBps));
    }
    wire += call.own_us;
    return {call.pipeline_us(latency, wire, c.peer_fill), Algorithm::peers, Protocol::simple};
}

CollectiveTime fastest_time(const Call& call) {
    if (!call.all_reduce() && !call.gathers() && !call.rooted()) return peers_time(call);
    Fastest fastest(call);
    const NcclSettings& settings = call.fabric.settings;
    for (const Protocol protocol : {Protocol::ll, Protocol::ll128, Protocol::simple}) {
        if (!runs(call, protocol)) continue;
        // The ring is what is left where everything else is switched off.
        if (settings.ring || !call.all_reduce() || !settings.tree) offer_ring(call, protocol, fastest);
        if (call.all_reduce() && settings.tree) offer_tree(call, protocol, fastest);
    }
    if (settings.nvls && call.multicast() && (call.all_reduce() || (call.gathers() && !call.several())))
        offer_nvls(call, call.link_GBps, fastest);
    if (settings.sharp && call.several() && call.all_reduce()) offer_collnet(call, fastest);
    if (settings.pat && call.several() && call.local == 1 && call.gathers()) offer_pat(call, fastest);
    return fastest.best();
}

}  // namespace

Result<CollectiveTime> nccl_time(Collective collective, double bytes, int ranks_per_node, int nodes,
                                 const Fabric& fabric, const NcclConstants& constants, const SiteFactors& site) {
    if (ranks_per_node < 1 || nodes < 1)
        return invalid_argument(
            fmt::format("a collective over {} nodes of {} ranks; at least 1 of each is needed", nodes, ranks_per_node));
    if (!(bytes >= 0) || std::isinf(bytes))
        return invalid_argument(fmt::format("a collective of {} bytes; give a size of 0 or more", bytes));
    const Call call = describe(collective, bytes, ranks_per_node, nodes, fabric, constants, site);
    if (call.ranks == 1) return CollectiveTime{};
    if (call.local > 1 && !(call.link_GBps > 0))
        return invalid_argument("a collective inside a node over links without bandwidth; state their GB/s");
    if (call.several() && !(call.network_GBps > 0))
        return invalid_argument("a collective between nodes over a network without bandwidth; state its GB/s");
    CollectiveTime time = fastest_time(call);
    time.median_us += constants.launch_us * of(constants.launch, fabric.node_link) * site.launch;
    return time;
}

}  // namespace dlcast
