// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/slurm_files.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <filesystem>

#include "predictor/base/text.h"

namespace dlcast {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t most_bytes = 16 << 20;
constexpr int most_includes = 16;  // deep

std::vector<std::string> words(std::string_view line) {
    std::vector<std::string> out;
    for (std::string& word : split(line, ' '))
        for (std::string& part : split(word, '\t'))
            if (!part.empty()) out.push_back(std::move(part));
    return out;
}

std::vector<std::string> matching(const std::string& pattern) {
    ::glob_t found{};
    std::vector<std::string> out;
    if (::glob(pattern.c_str(), 0, nullptr, &found) == 0)
        for (std::size_t i = 0; i < found.gl_pathc; ++i) out.emplace_back(found.gl_pathv[i]);
    ::globfree(&found);
    return out;
}

// Calls `read` with the words of each line that is no remark; follows includes.
template <typename Read>
Status read_lines(const std::string& path, int depth, const Read& read) {
    const auto text = read_file(path, most_bytes);
    if (!text) return text.error();
    if (depth > most_includes) return invalid_argument(path + ": files include each other");
    for (const std::string& whole : split(*text, '\n')) {
        const auto line = words(std::string_view(whole).substr(0, whole.find('#')));
        if (line.empty()) continue;
        if (to_lower(line[0]) != "include" || line.size() < 2) {
            read(line);
            continue;
        }
        const std::string pattern =
            line[1].starts_with('/') ? line[1] : (fs::path(path).parent_path() / line[1]).string();
        for (const std::string& file : matching(pattern)) (void)read_lines(file, depth + 1, read);
    }
    return ok();
}

}  // namespace

std::string SlurmConf::value(std::string_view key) const {
    const auto found = values.find(to_lower(key));
    return found == values.end() ? "" : found->second;
}

bool SlurmConf::lists(std::string_view key, std::string_view word) const {
    const auto list = split(value(key), ',');
    return std::any_of(list.begin(), list.end(), [&](const std::string& item) { return trim(item) == word; });
}

Result<SlurmConf> read_slurm_conf(const std::string& path) {
    SlurmConf out;
    const auto status = read_lines(path, 0, [&out](const std::vector<std::string>& line) {
        const auto equals = line[0].find('=');
        if (equals != std::string::npos) out.values[to_lower(line[0].substr(0, equals))] = line[0].substr(equals + 1);
    });
    if (!status) return status.error();
    return out;
}

std::vector<std::string> spank_lines(const std::string& path, const std::string& file) {
    std::vector<std::string> out;
    (void)read_lines(path, 0, [&](const std::vector<std::string>& line) {
        if (line.size() >= 2 && (line[0] == "required" || line[0] == "optional") && line[1].ends_with(file))
            out.push_back(line[1]);
    });
    return out;
}

std::string find_in(std::string_view folders, const std::string& file) {
    for (const std::string& folder : split(folders, ':')) {
        std::error_code ignored;
        if (!folder.empty() && fs::exists(folder + "/" + file, ignored)) return folder + "/" + file;
    }
    return "";
}

std::optional<std::uint32_t> slurm_version_in(std::string_view text) {
    const auto space = text.rfind(' ');
    const auto parts = split(space == std::string_view::npos ? text : text.substr(space + 1), '.');
    if (parts.size() < 3) return std::nullopt;
    std::uint32_t out = 0;
    for (std::size_t i = 0; i < 3; ++i) {
        // "8-rc1" of a candidate counts as 8.
        const auto number = parse_integer(std::string_view(parts[i]).substr(0, parts[i].find('-')));
        if (!number || *number > 255) return std::nullopt;
        out = out << 8 | static_cast<std::uint32_t>(*number);
    }
    return out;
}

std::string version_text(std::uint32_t version) {
    return fmt::format("{}.{:02}.{}", version >> 16, version >> 8 & 0xff, version & 0xff);
}

Result<std::uint32_t> plugin_version_of(const std::string& file) {
    void* handle = ::dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (!handle) return unavailable(fmt::format("cannot load it: {}", ::dlerror()));
    const auto* version = static_cast<const std::uint32_t*>(::dlsym(handle, "plugin_version"));
    const std::uint32_t out = version ? *version : 0;
    ::dlclose(handle);
    if (out == 0) return invalid_argument(fmt::format("{} is no Slurm plugin", file));
    return out;
}

}  // namespace dlcast
