// SPDX-License-Identifier: GPL-2.0-or-later
// Everything the configuration names, read at once.
#pragma once

#include <string>
#include <vector>

#include "predictor/device/cluster.h"
#include "predictor/job/site_config.h"

namespace dlcast {

/// The GPUs of one node group, or without any its CPUs, and what the catalog takes them for.
struct SiteGpus {
    std::string partition;
    NodeGroup group;
    std::string device;  // catalog key; empty where the name is unknown or ambiguous
};

struct SiteReport {
    SiteConfig config;
    std::size_t known_gpus = 0;
    Cluster cluster;
    std::vector<SiteGpus> gpus;
    std::vector<std::string> errors;    // the site does not work as written
    std::vector<std::string> warnings;  // it works, with less
    bool has_weights = false;           // their manifest reads; where not, an error says why
};

/// Reads dlcast.toml, the GPU files, the cluster file and the weights' manifest. `weights_dir` replaces the
/// configuration's where it is not empty.
SiteReport check_site(const std::string& config_file, const std::string& weights_dir);

}  // namespace dlcast
