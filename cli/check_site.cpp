// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/check_site.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include "cli/counted.h"
#include "cli/placements.h"
#include "predictor/base/text.h"
#include "predictor/base/toml.h"
#include "predictor/job/site_catalog.h"
#include "predictor/job/site_margins.h"

namespace dlcast {
namespace {

constexpr std::size_t most_config_bytes = 1 << 20;
constexpr std::size_t most_cluster_bytes = 16 << 20;  // tens of thousands of nodes are far below

void append(std::vector<std::string>& to, const std::vector<std::string>& from) {
    to.insert(to.end(), from.begin(), from.end());
}

// What a name of the cluster file means, and where it stands.
struct GpuName {
    std::string name, device, fault;
    std::vector<std::string> partitions;
};

GpuName& look_up(std::vector<GpuName>& known, const std::string& name, const DeviceCatalog& catalog) {
    for (GpuName& gpu : known)
        if (gpu.name == name) return gpu;
    const auto device = catalog.find(name);
    std::string fault;
    if (!device && name == untyped_gpu)
        fault = fmt::format(
            "Slurm knows no type of its GPUs; say which they are: [gpu_names] {} = \"...\" in dlcast.toml, or Type= in "
            "gres.conf",
            untyped_gpu);
    else if (!device)
        fault = device.error().message;
    known.push_back({name, device ? device->name : "", fault, {}});
    return known.back();
}

// Of a name that many partitions have, its fault is one error. Nodes of a partition without GPUs are devices by their
// CPU, where the site names it.
void check_gpus(const DeviceCatalog& catalog, SiteReport& report) {
    const bool names_cpu = report.config.gpu_names.contains(cpu_device);
    std::vector<GpuName> known;
    for (const Partition& partition : report.cluster.partitions)
        for (const NodeGroup& group : partition.groups) {
            const bool on_cpu = names_cpu && !has_gpus(partition);
            if (group.gpus_per_node == 0 && !on_cpu) continue;
            GpuName& gpu = look_up(known, on_cpu ? cpu_device : group.gpu, catalog);
            report.gpus.push_back({partition.name, group, gpu.device});
            if (gpu.partitions.empty() || gpu.partitions.back() != partition.name)
                gpu.partitions.push_back(partition.name);
        }
    for (const GpuName& gpu : known)
        if (!gpu.fault.empty())
            report.errors.push_back(fmt::format("partition{} {}: {}", gpu.partitions.size() == 1 ? "" : "s",
                                                first_of(gpu.partitions), gpu.fault));
}

void check_cluster_file(const DeviceCatalog& catalog, SiteReport& report) {
    const std::string& path = report.config.cluster_file;
    const auto text = read_file(path, most_cluster_bytes);
    if (!text && text.error().fault == Fault::not_found) {
        report.warnings.push_back(fmt::format(
            "no cluster file '{}': submissions get no forecast; write it with `dlcast sync --output {}`", path, path));
        return;
    }
    if (!text) {
        report.errors.push_back(text.error().message);
        return;
    }
    auto checked = check_cluster(*text, path);
    append(report.errors, checked.faults);
    report.cluster = std::move(checked.value);
    if (catalog.entries().empty()) return;  // said already; every GPU would be called unknown
    check_gpus(catalog, report);
}

// Only a file that cannot be read is an error: without margins limits are quantile x margin_factor.
void check_margins(SiteReport& report) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    auto margins = read_margins(report.config, std::chrono::duration_cast<std::chrono::seconds>(now).count());
    if (margins)
        report.config.margins = std::move(*margins);
    else if (margins.error().fault == Fault::invalid_argument)
        report.errors.push_back(margins.error().message);
    else
        report.warnings.push_back(margins.error().message + "; until then limits are quantile x margin_factor");
}

void check_status_file(SiteReport& report) {
    const std::string folder = std::filesystem::path(report.config.status_file).parent_path().string();
    std::error_code ignored;
    if (!folder.empty() && !std::filesystem::is_directory(folder, ignored))
        report.warnings.push_back(fmt::format(
            "[files] status: no folder '{}'; make it, writable for SlurmUser, or counters are not kept", folder));
}

void check_weights(SiteReport& report) {
    const std::string manifest = report.config.weights_dir + "/manifest.toml";
    const auto text = read_file(manifest, most_config_bytes);
    if (!text)
        report.errors.push_back(
            fmt::format("{}; name a weights directory in [files] weights, or train one", text.error().message));
    else if (const auto tree = parse_toml(*text, manifest); !tree)
        report.errors.push_back(tree.error().message);
    else
        report.has_weights = true;
}

}  // namespace

SiteReport check_site(const std::string& config_file, const std::string& weights_dir) {
    SiteReport report;
    const auto text = read_file(config_file, most_config_bytes);
    if (!text) {
        report.errors.push_back(text.error().message);
        return report;
    }
    auto config = check_site_config(*text, config_file);
    append(report.errors, config.faults);
    report.config = std::move(config.value);
    if (!weights_dir.empty()) report.config.weights_dir = weights_dir;

    const auto catalog = check_catalog(report.config);
    append(report.errors, catalog.faults);
    report.known_gpus = catalog.value.entries().size();
    check_cluster_file(catalog.value, report);
    check_margins(report);
    check_status_file(report);
    check_weights(report);
    return report;
}

}  // namespace dlcast
