// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/installation.h"

#include <cstdlib>
#include <filesystem>

#include "predictor/base/text.h"
#include "predictor/timing/refined_operators.h"

namespace dlcast {

namespace fs = std::filesystem;

namespace {

// Set but empty counts as not set, as in the plugin.
std::string from_environment(const char* variable, const std::string& otherwise) {
    const char* value = std::getenv(variable);
    return value && *value ? value : otherwise;
}

}  // namespace

Installation find_installation() {
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    const auto under_build_tree = program.lexically_relative(DLCAST_BINARY_DIR);
    if (!under_build_tree.empty() && *under_build_tree.begin() != "..")
        return {DLCAST_SOURCE_DIR "/etc",
                from_environment("DLCAST_MODULE", DLCAST_BINARY_DIR "/predictor/torch/dlcast_torch.so")};
    // Installed, also under another prefix than it was built for.
    const fs::path prefix = program.parent_path() / DLCAST_BIN_TO_PREFIX;
    fs::path data = (prefix / DLCAST_DATA_DIR).lexically_normal();
    if (!fs::exists(data, error)) data = DLCAST_FULL_DATA_DIR;  // prefix /usr has its /etc outside
    const fs::path module = (prefix / DLCAST_MODULE_DIR / "dlcast_torch.so").lexically_normal();
    return {data.string(), from_environment("DLCAST_MODULE", module.string())};
}

Result<DeviceCatalog> shipped_catalog() {
    const std::string path = find_installation().data_dir + "/gpus.toml";
    const auto text = read_file(path, 4u << 20);
    if (!text) return text.error();
    return DeviceCatalog::parse(*text, path);
}

std::string site_config_path(const std::string& named) {
    return named.empty() ? from_environment("DLCAST_CONFIG", find_installation().data_dir + "/dlcast.toml") : named;
}

Result<SiteConfig> read_site_config(const std::string& named) {
    const std::string file = site_config_path(named);
    const auto text = read_file(file, 1u << 20);
    if (!text)
        return Error{
            text.error().fault,
            text.error().message + "; name dlcast.toml with --config" +
                (named.empty() && std::getenv("DLCAST_CONFIG") ? ", or in DLCAST_CONFIG, which names this one" : "")};
    return parse_site_config(*text, file);
}

Result<LinkCatalog> shipped_links() {
    const std::string path = find_installation().data_dir + "/links.toml";
    const auto text = read_file(path, 1u << 20);
    if (!text) return text.error();
    return parse_link_catalog(*text, path);
}

Result<OpenedModel> open_model(const std::string& weights_dir, const std::string& default_dir) {
    const Installation here = find_installation();
    std::string dir = weights_dir.empty() ? default_dir : weights_dir;
    if (dir.empty()) dir = here.data_dir + "/weights";
    OpenedModel out;
    auto steps = read_step_weights(dir);
    if (!steps) return steps.error();
    out.steps = std::move(*steps);
    auto torch = open_refined_model(here.module_file, dir);
    if (torch) {
        out.model = std::move(*torch);
        return out;
    }
    // A directory may hold the constants of the step-time model alone.
    if (!weights_dir.empty() && out.steps.gpus.empty()) return torch.error();
    const char* named = std::getenv("DLCAST_MODULE");
    const bool is_named = named && *named && torch.error().message.find(named) != std::string::npos;
    out.model = make_analytic_model();
    out.warning = torch.error().message + (is_named ? "; DLCAST_MODULE names it" : "") + "; the analytic model answers";
    return out;
}

}  // namespace dlcast
