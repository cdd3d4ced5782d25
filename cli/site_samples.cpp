// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/site_samples.h"

#include <fmt/format.h>

#include <algorithm>

#include "predictor/timing/weights_manifest.h"

namespace dlcast {
namespace {

using TableKey = std::tuple<std::string, Collective, int, int>;  // device, collective, ranks a node, nodes
using Tables = std::map<TableKey, std::map<std::uint64_t, std::vector<double>>>;

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

std::vector<RefinedCollective> tables_of(const Tables& tables) {
    std::vector<RefinedCollective> out;
    for (const auto& [key, sizes] : tables) {
        RefinedCollective table;
        std::tie(table.gpu, table.collective, table.ranks_per_node, table.nodes) = key;
        for (const auto& [bytes, times_us] : sizes)
            table.sizes.push_back({static_cast<double>(bytes), median(times_us)});
        out.push_back(std::move(table));
    }
    return out;
}

}  // namespace

Result<SiteSamples> read_site_samples(const std::vector<std::string>& files, const DeviceCatalog& catalog) {
    SiteSamples out;
    Tables tables;
    std::map<std::string, Device> by_name;  // as samples write it, which may be a short one
    Status status = ok();
    const auto refuse = [&](const std::string& file, const std::string& text) {
        if (status) status = invalid_argument(file + ": " + text);
    };
    for (const std::string& file : files) {
        const auto use = [&](TimingSample&& sample) {
            ++out.read;
            if (!by_name.contains(sample.device.name)) {
                auto device = catalog.find(sample.device.name);
                if (!device)
                    return refuse(file, device.error().message +
                                            "; put the entry that dlcast-profile wrote into the site's gpus.toml");
                out.devices[device->name] = *device;
                by_name[sample.device.name] = std::move(*device);
            }
            const Device& device = by_name.at(sample.device.name);
            if (const auto* op = std::get_if<Operator>(&sample.point)) {
                const Clock clock = layer_clock(sample.clock);
                const auto group = group_of(*op, device, clock);
                if (!group)
                    ++out.without_network;
                else
                    out.calls[{device.name, *group}].push_back(
                        {*op, clock, sample.median_s, weights_id(to_json_line(sample))});
            } else if (const auto* collective = std::get_if<MeasuredCollective>(&sample.point)) {
                if (collective->nodes < 1 || collective->ranks % collective->nodes != 0)
                    return refuse(file, fmt::format("{} ranks do not divide over {} nodes", collective->ranks,
                                                    collective->nodes));
                tables[{device.name, collective->collective, collective->ranks / collective->nodes, collective->nodes}]
                      [collective->bytes]
                          .push_back(1e6 * sample.median_s);
            } else {
                out.passes.push_back({device.name, std::get<MeasuredPass>(sample.point), sample.median_s,
                                      weights_id(to_json_line(sample))});
            }
        };
        if (auto s = read_timing_samples(file, use); !s) return s.error();
        if (!status) return status.error();
    }
    out.collectives = tables_of(tables);
    return out;
}

}  // namespace dlcast
