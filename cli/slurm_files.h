// SPDX-License-Identifier: GPL-2.0-or-later
// What an administrator wrote for Slurm on this host: slurm.conf, plugstack.conf, and the plugins they name.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "predictor/base/result.h"

namespace dlcast {

/// Keys of slurm.conf, lower-cased; of one that stands twice the last counts, as for Slurm. `Include` is followed.
class SlurmConf {
public:
    std::string value(std::string_view key) const;
    /// Is `word` among the values of a comma-separated key?
    bool lists(std::string_view key, std::string_view word) const;

    std::map<std::string, std::string> values;
};
Result<SlurmConf> read_slurm_conf(const std::string& path);

/// Paths in the lines of plugstack.conf (and of what it includes) that end in `file`.
std::vector<std::string> spank_lines(const std::string& path, const std::string& file);

/// The first folder of a colon-separated list that holds the file, with the file; empty where none does.
std::string find_in(std::string_view folders, const std::string& file);

/// "slurm-wlm 22.05.8" -> 22 << 16 | 5 << 8 | 8, as Slurm numbers its versions.
std::optional<std::uint32_t> slurm_version_in(std::string_view text);
std::string version_text(std::uint32_t version);
/// Of the plugin in a file, which is loaded for that and not started. Errors: it cannot be loaded, is no plugin.
Result<std::uint32_t> plugin_version_of(const std::string& file);

}  // namespace dlcast
