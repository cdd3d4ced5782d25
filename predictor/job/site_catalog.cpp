// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/site_catalog.h"

#include <fmt/format.h>

#include "predictor/base/text.h"

namespace dlcast {
namespace {

constexpr std::size_t most_bytes = 4 << 20;

// Adds the file's entries; its faults where it has any.
std::vector<std::string> add_file(const std::string& path, DeviceCatalog& catalog) {
    const auto text = read_file(path, most_bytes);
    if (!text) return {text.error().message};
    auto faults = DeviceCatalog::faults(*text, path);
    if (!faults.empty()) return faults;
    const auto read = DeviceCatalog::parse(*text, path);
    if (!read) return {read.error().message};
    if (const auto merged = catalog.merge(*read); !merged) return {merged.error().message};
    return {};
}

// Fills `catalog`; what is wrong comes back.
std::vector<std::string> fill(const SiteConfig& config, DeviceCatalog& catalog) {
    std::vector<std::string> out = add_file(config.gpus_file, catalog);
    if (!config.site_gpus_file.empty()) {
        const auto more = add_file(config.site_gpus_file, catalog);
        out.insert(out.end(), more.begin(), more.end());
    }
    if (!out.empty()) return out;  // with GPUs missing every choice would be called unknown
    for (const auto& [name, device] : config.gpu_names)
        if (const auto chosen = catalog.choose(name, device); !chosen)
            out.push_back(fmt::format("[gpu_names] {}: {}", name, chosen.error().message));
    return out;
}

}  // namespace

Result<DeviceCatalog> load_catalog(const SiteConfig& config) {
    DeviceCatalog out;
    const auto faults = fill(config, out);
    if (!faults.empty()) return invalid_argument(faults.front());
    return out;
}

std::vector<std::string> catalog_faults(const SiteConfig& config) {
    DeviceCatalog scratch;
    return fill(config, scratch);
}

}  // namespace dlcast
