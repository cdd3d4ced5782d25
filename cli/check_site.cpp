// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/check_site.h"

#include <fmt/format.h>

#include <chrono>

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

void check_group(const Partition& partition, const NodeGroup& group, const DeviceCatalog& catalog, SiteReport& report) {
    if (group.gpus_per_node == 0) return;
    const auto device = catalog.find(group.gpu);
    report.gpus.push_back({partition.name, group, device ? device->name : ""});
    if (device) return;
    if (group.gpu == untyped_gpu)
        report.errors.push_back(
            fmt::format("partition {}: Slurm knows no type of its GPUs; say which they are: [gpu_names] {} = \"...\" "
                        "in dlcast.toml, or Type= in gres.conf",
                        partition.name, untyped_gpu));
    else
        report.errors.push_back(fmt::format("partition {}: {}", partition.name, device.error().message));
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
    for (const Partition& partition : report.cluster.partitions)
        for (const NodeGroup& group : partition.groups) check_group(partition, group, catalog, report);
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
    check_weights(report);
    return report;
}

}  // namespace dlcast
