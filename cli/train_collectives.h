// SPDX-License-Identifier: GPL-2.0-or-later
// Fits the constants of the collectives' cost model and writes them beside the network's weights.
#pragma once

#include <string>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/device/catalog.h"
#include "predictor/step/link_catalog.h"

namespace dlcast {

struct TrainCollectivesOptions {
    std::string setups, measured;                            // tables; none where empty
    std::vector<std::string> excluded_setups;                // set-up ids
    std::vector<std::string> excluded_gpus, excluded_sites;  // GPU names; sites as `evaluate collectives` leaves out
    std::string out;                                         // directory; made where it is missing
};

/// Writes `out`/collectives.toml. The spread of forecasts comes from refits without each site. Errors: files, an
/// excluded set-up that no table has, no measurement to learn from, an unwritable directory.
Result<FittedCollectives> train_collectives(const TrainCollectivesOptions& options, const LinkCatalog& links,
                                            const DeviceCatalog& catalog);

}  // namespace dlcast
