// SPDX-License-Identifier: GPL-2.0-or-later
// A site's configuration in a temporary folder: partitions a100, v100, t4 (one GPU type each) and cpu.
#pragma once

#include <string>

class Site {
public:
    /// `policy` is put before the tables of dlcast.toml.
    explicit Site(const std::string& policy = "");
    ~Site();
    Site(const Site&) = delete;
    Site& operator=(const Site&) = delete;

    std::string config() const { return folder_ + "/dlcast.toml"; }
    /// Writes a file into the folder; its path.
    std::string write(const std::string& name, const std::string& text) const;

private:
    std::string folder_;
};

/// Path of the LibTorch module in the build tree, and of one that is not there.
std::string built_module();
inline const char* const no_module = "/nonexistent/dlcast_torch.so";
