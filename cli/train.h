// SPDX-License-Identifier: GPL-2.0-or-later
// Trains weights for the layer-time network from tables of measured operators.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/training_rows.h"
#include "predictor/timing/weights_manifest.h"

namespace dlcast {

struct TrainOptions {
    std::vector<std::string> ops;      // files
    std::string end_to_end, opgraphs;  // files of whole models and their operators; empty: none
    Exclusions exclusions;
    std::int64_t seed = 1;
    int members = 2;
    double effort = 1.0;      // multiplies the epochs
    std::string out;          // directory; made where it is missing
    std::string module_path;  // dlcast_torch.so
};

/// Writes `out`/network.pt and `out`/manifest.toml, the manifest last. The same files, options and seed give the same
/// weights. A line with the time left goes to stderr while it trains. Errors: files, no rows to learn from, no LibTorch
/// module.
Result<WeightsManifest> train_weights(const TrainOptions& options, const DeviceCatalog& catalog);

}  // namespace dlcast
