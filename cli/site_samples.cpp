// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/site_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include "predictor/base/text.h"
#include "predictor/model/workload.h"
#include "predictor/timing/weights_manifest.h"

namespace dlcast {
namespace {

constexpr std::size_t longest_name = 200;

using TableKey = std::tuple<std::string, Collective, int, int>;  // device, collective, ranks a node, nodes
using Tables = std::map<TableKey, std::map<std::uint64_t, std::vector<double>>>;

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

// A model given for its measurements would be called a sample with faults.
Error not_samples(const std::string& file, const Error& fault) {
    if (!read_model_argument(file)) return fault;
    return invalid_argument(fmt::format(
        "--samples: '{0}' is a model, where timing samples of models are needed; measure it with `dlcast-profile {0} "
        "-o samples.jsonl`, and give samples.jsonl",
        shown_path(file)));
}

// dlcast-profile writes the entry of a device that no catalog knows beside its samples.
Error without_entry(const std::string& place, const std::string& file, const std::string& name,
                    const DeviceCatalog& catalog) {
    const std::string entry = file + ".gpus.toml", near = nearest_name(name, catalog.names());
    const std::string meant = near.empty() ? "" : fmt::format(" (did you mean \"{}\"?)", near);
    std::error_code error;
    const char* const where = std::filesystem::exists(entry, error)
                                  ? "its entry is in '{0}', which was written with the samples"
                                  : "dlcast-profile wrote its entry into '{0}' where it was measured; bring that file";
    return not_found(fmt::format(
        "{}: device \"{}\" is in no catalog{}; {}: name it in dlcast.toml, [files] site_gpus = \"{}\", or add its "
        "entries to the file named there",
        place, one_line(name, longest_name), meant, fmt::format(fmt::runtime(where), shown_path(entry)),
        shown_path(std::filesystem::absolute(entry, error).string())));
}

}  // namespace

std::vector<RefinedCollective> tables_of(const std::vector<SampledCollective>& samples) {
    Tables tables;
    for (const SampledCollective& sample : samples) {
        const MeasuredCollective& point = sample.point;
        tables[{sample.gpu, point.collective, point.ranks / point.nodes, point.nodes}][point.bytes].push_back(
            1e6 * sample.time_s);
    }
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

Result<SiteSamples> read_site_samples(const std::vector<std::string>& files, const DeviceCatalog& catalog) {
    SiteSamples out;
    std::set<std::string> ids;
    std::map<std::string, Device> by_name;  // as samples write it, which may be a short one
    Status status = ok();
    const auto refuse = [&](const Error& error) {
        if (status) status = error;
    };
    for (const std::string& file : files) {
        const std::string shown = shown_path(file);
        const auto use = [&](TimingSample&& sample, int line) {
            if (!status) return;
            ++out.read;
            const std::string place = fmt::format("{}:{}", shown, line);
            if (!by_name.contains(sample.device.name)) {
                auto device = catalog.find(sample.device.name);
                if (!device && device.error().fault == Fault::not_found)
                    return refuse(without_entry(place, file, sample.device.name, catalog));
                if (!device) return refuse(invalid_argument(place + ": " + device.error().message));
                out.devices[device->name] = *device;
                by_name[sample.device.name] = std::move(*device);
            }
            const Device& device = by_name.at(sample.device.name);
            const SampledTime time{sample.median_s, sample.fastest_s, sample.slowest_s,
                                   weights_id(to_json_line(sample)), place};
            if (!ids.insert(time.id).second) {
                ++out.copies;
                return;
            }
            if (const auto* op = std::get_if<Operator>(&sample.point)) {
                const Clock clock = layer_clock(sample.clock);
                const auto group = group_of(*op, device, clock);
                if (!group)
                    ++out.without_network[op->kind];
                else
                    out.calls[{device.name, *group}].push_back({time, *op, clock});
            } else if (const auto* collective = std::get_if<MeasuredCollective>(&sample.point)) {
                if (collective->nodes < 1 || collective->ranks % collective->nodes != 0)
                    return refuse(invalid_argument(
                        fmt::format("{}: {} ranks do not divide over {} nodes; correct the sample's ranks or nodes",
                                    place, collective->ranks, collective->nodes)));
                out.collectives.push_back({time, device.name, *collective});
            } else {
                out.passes.push_back({time, device.name, std::get<MeasuredPass>(sample.point)});
            }
        };
        if (auto s = read_timing_samples(file, use); !s) return not_samples(file, s.error());
        if (!status) return status.error();
    }
    return out;
}

}  // namespace dlcast
