// SPDX-License-Identifier: GPL-2.0-or-later
// Where this program's data and modules lie: in the build tree or where it was installed, whatever the current folder
// is.
#pragma once

#include <memory>
#include <string>

#include "predictor/base/result.h"
#include "predictor/device/catalog.h"
#include "predictor/job/site_config.h"
#include "predictor/step/step_weights.h"
#include "predictor/timing/layer_time_model.h"

namespace dlcast {

struct Installation {
    std::string data_dir;     // dlcast.toml, gpus.toml, weights/
    std::string module_file;  // dlcast_torch.so
};

/// Told by the place of the running program; the module by DLCAST_MODULE where that is set, as slurmctld's is.
Installation find_installation();

/// The shipped gpus.toml.
Result<DeviceCatalog> shipped_catalog();

/// The dlcast.toml to read: `named` (--config), else DLCAST_CONFIG's, by which slurmctld finds another, else the
/// installed one.
std::string site_config_path(const std::string& named);
/// That file, read.
Result<SiteConfig> read_site_config(const std::string& named);

/// The shipped links.toml.
Result<LinkCatalog> shipped_links();

/// The network with `weights_dir` (empty: `default_dir`; both empty: the shipped weights). Where it cannot be opened,
/// `weights_dir` being named is an error; otherwise the analytic model answers and `warning` says why.
struct OpenedModel {
    std::unique_ptr<LayerTimeModel> model;
    StepWeights steps;  // constants of the step-time model beside the network
    std::string warning;
};
Result<OpenedModel> open_model(const std::string& weights_dir, const std::string& default_dir = "");

}  // namespace dlcast
