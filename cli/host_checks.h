// SPDX-License-Identifier: GPL-2.0-or-later
// What has to hold on a host: the plugins that slurm.conf and plugstack.conf name are there and fit this Slurm, the
// configuration reads, the weights load.
#pragma once

#include <string>
#include <vector>

namespace dlcast {

struct HostPaths {
    std::string config;      // dlcast.toml
    std::string module;      // dlcast_torch.so
    std::string slurm_conf;  // empty: SLURM_CONF, else /etc/slurm/slurm.conf
};

struct Finding {
    enum class Grade { good, hint, bad };
    Grade grade = Grade::good;
    std::string check, text;
};

/// All findings, in the order of an installation. Asks no daemon.
std::vector<Finding> check_host(const HostPaths& paths);

}  // namespace dlcast
