// SPDX-License-Identifier: GPL-2.0-or-later
// Everything a forecast needs at a site, read from files at one moment.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "predictor/device/catalog.h"
#include "predictor/device/cluster.h"
#include "predictor/job/forecast_cache.h"
#include "predictor/job/forecaster.h"
#include "predictor/job/site_config.h"
#include "predictor/step/step_weights.h"
#include "predictor/timing/layer_time_model.h"

namespace dlcast {

/// What tells one version of a file from the next; all zero: not there.
struct FileStamp {
    std::int64_t mtime_ns = 0, size = 0;
    std::uint64_t inode = 0;
    bool operator==(const FileStamp&) const = default;
};
FileStamp stamp_of(const std::string& path);

struct SiteState {
    std::optional<SiteConfig> site;  // nothing: no usable configuration, every submission passes
    DeviceCatalog catalog;
    std::optional<Cluster> cluster;
    bool has_cpu = false;                         // the site has named its CPUs
    std::shared_ptr<const LayerTimeModel> model;  // the network, or the analytic model where it is missing
    std::int64_t until_s = std::numeric_limits<std::int64_t>::max();  // from then on the site's margins are too old
    StepWeights steps;                        // beside the network; the priors where there is no such file
    std::map<std::string, FileStamp> stamps;  // of every file read or missed
    std::vector<std::string> faults;          // one line each
    // Forecasts made with all of the above; empty when any of it is read again.
    std::shared_ptr<ForecastCache> forecasts = std::make_shared<ForecastCache>();
};

/// Reads all files. What is broken keeps its last good version from `previous` (may be null) and is a fault; margins
/// alone are done without, so that limits are the site's quantile x margin_factor.
std::shared_ptr<const SiteState> load_site(const ForecasterPaths& paths, const SiteState* previous, std::int64_t now_s);

/// Has any file changed, come, gone or aged since?
bool is_outdated(const SiteState& state, std::int64_t now_s);

}  // namespace dlcast
