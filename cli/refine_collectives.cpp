// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <cmath>
#include <map>

#include "cli/refined_part.h"
#include "predictor/device/usual_node.h"
#include "predictor/step/nccl_model.h"
#include "predictor/step/nccl_residual.h"
#include "predictor/step/step_fabric.h"

namespace dlcast {
namespace {

Fabric fabric_for(const Device& device, const RefinedCollective& table) {
    Allocation allocation;
    allocation.device = device;
    allocation.nodes = table.nodes;
    allocation.gpus_per_node = table.ranks_per_node;
    allocation.intra_node = intra_node_link(device);
    const double node_Bps = usual_network(device).node_Bps(table.ranks_per_node);
    allocation.inter_node = {5e-6, network_attained * node_Bps / table.ranks_per_node};
    return fabric_of(allocation);
}

bool same_group(const RefinedCollective& a, const RefinedCollective& b) {
    return a.gpu == b.gpu && a.collective == b.collective && a.ranks_per_node == b.ranks_per_node && a.nodes == b.nodes;
}

double factor_of(const std::vector<RefinedCollective>& tables, const RefinedCollective& like, double bytes,
                 double form_us, const auto& form) {
    for (const RefinedCollective& table : tables)
        if (same_group(table, like)) return CollectiveCorrection(table, form).factor(bytes, form_us);
    return 1.0;
}

std::size_t sizes_of(const std::vector<RefinedCollective>& tables, const RefinedCollective& like) {
    for (const RefinedCollective& table : tables)
        if (same_group(table, like)) return table.sizes.size();
    return 0;
}

// The weights' own table of this size holds this very time, to the digits that are written.
bool stands_in(const std::vector<RefinedCollective>& tables, const RefinedCollective& like,
               const CollectiveSize& size) {
    const auto same = [&](const CollectiveSize& kept) {
        return kept.bytes == size.bytes && std::fabs(kept.time_us / size.time_us - 1.0) < 1e-8;
    };
    return std::any_of(tables.begin(), tables.end(), [&](const RefinedCollective& table) {
        return same_group(table, like) && std::any_of(table.sizes.begin(), table.sizes.end(), same);
    });
}

}  // namespace

std::vector<RefinedCollective> refine_collectives(const SiteSamples& samples, const WeightsInForce& before,
                                                  std::size_t fit_sizes, RefinedErrors& errors, KnownParts& known) {
    std::vector<RefinedCollective> out;
    std::map<std::string, JudgedKind> sums;
    for (const RefinedCollective& table : tables_of(samples.collectives)) {
        const Fabric fabric = fabric_for(samples.devices.at(table.gpu), table);
        const auto form = [&](double bytes) {
            const auto time = nccl_time(table.collective, bytes, table.ranks_per_node, table.nodes, fabric,
                                        before.steps.collectives.constants);
            return time ? time->median_us : 0.0;
        };
        std::vector<TablePoint> points;
        for (const CollectiveSize& size : table.sizes)
            points.push_back({size.bytes, form(size.bytes), form(size.bytes) > 0});
        if (std::none_of(points.begin(), points.end(), [](const TablePoint& point) { return point.may_measure; }))
            continue;  // one rank
        const std::size_t most = std::max<std::size_t>(1, points.size() * 4 / 5);
        RefinedCollective kept = table;
        kept.sizes.clear();
        const auto chosen = choose_sizes(points, std::min(fit_sizes, most));
        for (const std::size_t i : chosen) kept.sizes.push_back(table.sizes[i]);
        const auto& in_force = before.steps.collectives.refined;
        const auto stands = [&](const CollectiveSize& size) { return stands_in(in_force, table, size); };
        if (std::all_of(kept.sizes.begin(), kept.sizes.end(), stands) &&
            kept.sizes.size() >= sizes_of(in_force, table)) {
            known.insert("collectives on " + table.gpu);
            continue;
        }
        const CollectiveCorrection correction(kept, form);
        JudgedKind& sum = sums[table.gpu];
        sum.gpu = table.gpu;
        sum.kind = "collectives";
        sum.rows += static_cast<std::int64_t>(points.size());
        for (std::size_t i = 0; i < points.size(); ++i) {
            if (!points[i].may_measure || std::find(chosen.begin(), chosen.end(), i) != chosen.end()) continue;
            if (stands(table.sizes[i])) continue;
            const double form_us = points[i].predicted_us, bytes = points[i].bytes;
            sum.add(form_us * factor_of(in_force, table, bytes, form_us, form),
                    form_us * correction.factor(bytes, form_us), table.sizes[i].time_us);
        }
        out.push_back(std::move(kept));
    }
    for (auto& [gpu, sum] : sums) {
        sum.average();
        errors.push_back(sum);
    }
    for (const RefinedCollective& old : before.steps.collectives.refined)
        if (std::none_of(out.begin(), out.end(), [&](const auto& table) { return same_group(table, old); }))
            out.push_back(old);
    return out;
}

}  // namespace dlcast
