// SPDX-License-Identifier: GPL-2.0-or-later
// manifest.toml of a weights directory: what the network beside it is, what it learnt from, and how wrong it was.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/timing/features.h"

namespace dlcast {

/// A GPU with constants of its own in a network, under one family of clocks.
struct NamedGroup {
    std::string gpu;       // catalog key
    std::string product;   // as sold: the name behind other keys
    bool session = false;  // Clock::session, else the others
};

struct NetManifest {
    int columns = 0;
    double scale_factor =
        1.0;  // Laplace scale of the network -> standard deviation of log time, calibrated on held-out rows
    double unseen_log_sd = 0.0;  // added in quadrature for a GPU without constants of its own
    std::vector<NamedGroup> groups;
};

struct TrainingSource {
    std::string name, origin, licence;
    std::int64_t rows = 0;
};

/// On rows that were not trained on.
struct HeldOutError {
    std::string source, op;
    std::int64_t rows = 0;
    double mape_pct = 0.0, median_ape_pct = 0.0, roofline_mape_pct = 0.0;
};
/// What `dlcast refine` made of measurements at a site: of how many, and the mean error on those held out, before and
/// after.
struct RefinedKind {
    std::string gpu, kind;  // catalog key; kind of operator, "collectives" or "steps"
    std::int64_t rows = 0, held_out = 0;
    double before_pct = 0.0, after_pct = 0.0;
};

struct WeightsManifest {
    int schema = feature_schema;
    std::string id;  // hash of the network's file, 16 hex digits
    std::int64_t seed = 0;
    int members = 1;
    std::array<NetManifest, net_count> nets;
    std::vector<TrainingSource> sources;
    std::vector<std::string> excluded;  // GPUs and sources left out on request
    std::vector<HeldOutError> held_out;
    std::vector<RefinedKind> refined;
};

inline constexpr const char* weights_file = "network.pt";
inline constexpr const char* manifest_file = "manifest.toml";

/// Errors: bad TOML, unknown or missing key, value out of range.
Result<WeightsManifest> parse_weights_manifest(std::string_view text, const std::string& source);
std::string write_weights_manifest(const WeightsManifest& manifest);

/// Id of a network's file: FNV-1a, 64 bits. It tells a damaged or exchanged file, not a forged one.
std::string weights_id(std::string_view file_content);

}  // namespace dlcast
