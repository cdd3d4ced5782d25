// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "cli/doubtful_samples.h"
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

// As refined_steps.toml holds them.
constexpr double most_bytes = 1e15, longest_s = 1e6;
constexpr int most_ranks = 1 << 20;

// What moves over the link of one GPU at least, however a collective is computed, switches that reduce included. 0
// between nodes, whose network no entry states.
double least_collective_s(const Device& device, const MeasuredCollective& point) {
    if (point.nodes > 1 || device.link.empty()) return 0.0;
    const double others = 1.0 - 1.0 / point.ranks;
    return others * static_cast<double>(point.bytes) / intra_node_link(device).bandwidth_Bps;
}

std::string doubt_about_collective(const SampledCollective& sample, const Device& device,
                                   const NcclConstants& constants) {
    const MeasuredCollective& point = sample.point;
    const int ranks_per_node = point.ranks / point.nodes;
    const std::string what = sample_words(sample);
    const auto bytes = static_cast<double>(point.bytes);
    if (point.bytes == 0 || bytes > most_bytes || std::max(ranks_per_node, point.nodes) > most_ranks ||
        sample.time_s > longest_s)
        return fmt::format(
            "{}: {}: left out. It should be of 1 to {:.0e} bytes, of {} nodes and ranks a node at most, and of {:.0e} "
            "s "
            "at most; correct it, or take it out of the file",
            sample.place, what, most_bytes, most_ranks, longest_s);
    const RefinedCollective table{sample.gpu, point.collective, ranks_per_node, point.nodes, {}};
    const auto form =
        nccl_time(point.collective, bytes, ranks_per_node, point.nodes, fabric_for(device, table), constants);
    if (!form || !(form->median_us > 0)) return "";  // one rank
    return doubt_about(sample, what, sample.gpu, least_collective_s(device, point), 1e-6 * form->median_us);
}

}  // namespace

void leave_out_impossible_collectives(SiteSamples& samples, const WeightsInForce& before, const Say& say) {
    FewLines lines(say);
    std::erase_if(samples.collectives, [&](const SampledCollective& sample) {
        const std::string doubt =
            doubt_about_collective(sample, samples.devices.at(sample.gpu), before.steps.collectives.constants);
        if (!doubt.empty()) lines.add(doubt);
        return !doubt.empty();
    });
}

std::vector<RefinedCollective> refine_collectives(const SiteSamples& samples, const WeightsInForce& before,
                                                  std::size_t fit_sizes, RefinedErrors& errors, KnownParts& known,
                                                  const Say& say) {
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
        if (sum.held_out == 0)
            say(fmt::format("collectives on {}: nothing held out can judge them; measure more sizes", gpu));
        sum.average();
        errors.push_back(sum);
    }
    for (const RefinedCollective& old : before.steps.collectives.refined)
        if (std::none_of(out.begin(), out.end(), [&](const auto& table) { return same_group(table, old); }))
            out.push_back(old);
    return out;
}

}  // namespace dlcast
