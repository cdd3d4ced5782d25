// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/site_catalog.h"

#include <fmt/format.h>

#include "predictor/base/text.h"

namespace dlcast {
namespace {

constexpr std::size_t most_bytes = 4 << 20;

void add_file(const std::string& path, const char* remedy, Checked<DeviceCatalog>& out) {
    const auto text = read_file(path, most_bytes);
    if (!text) {
        out.faults.push_back(fmt::format("{}; {}", text.error().message, remedy));
        return;
    }
    const auto read = DeviceCatalog::check(*text, path);
    out.faults.insert(out.faults.end(), read.faults.begin(), read.faults.end());
    if (const auto merged = out.value.merge(read.value); !merged) out.faults.push_back(merged.error().message);
}

}  // namespace

Checked<DeviceCatalog> check_catalog(const SiteConfig& config) {
    Checked<DeviceCatalog> out;
    add_file(config.gpus_file,
             "name the catalog in dlcast.toml: [files] gpus = \"...\"; the shipped gpus.toml lies beside the shipped "
             "dlcast.toml",
             out);
    if (!config.site_gpus_file.empty())
        add_file(config.site_gpus_file, "correct [files] site_gpus in dlcast.toml, or take it out", out);
    if (!out.faults.empty()) return out;  // with GPUs missing every choice would be called unknown
    for (const auto& [name, device] : config.gpu_names)
        if (const auto chosen = out.value.choose(name, device); !chosen)
            out.faults.push_back(fmt::format("[gpu_names] {}: {}", name, chosen.error().message));
    return out;
}

Result<DeviceCatalog> load_catalog(const SiteConfig& config) { return result_of(check_catalog(config)); }

}  // namespace dlcast
