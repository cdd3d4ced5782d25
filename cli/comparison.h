// SPDX-License-Identifier: GPL-2.0-or-later
// One training on several kinds of GPUs, as many of each.
#pragma once

#include <string>
#include <vector>

#include "cli/prediction.h"
#include "predictor/base/value.h"

namespace dlcast {

struct CompareOptions {
    PredictOptions predict;         // without a GPU's name
    std::vector<std::string> gpus;  // by name; empty: the cluster file's, else one of each generation
};

struct ComparedGpu {
    Placement placement;
    Candidate candidate;
    double samples_per_s = 0.0;
    double time_s = 0.0;  // median run time, or without a duration that of a million samples
    double gpu_hours = 0.0;
    bool fits() const { return candidate.fits_memory && candidate.fits_time; }
};

/// Ordered by time, those that fit first.
struct Comparison {
    Workload workload;
    std::vector<ComparedGpu> gpus;
    bool has_duration = false;
    std::vector<std::string> assumed, warnings, left_out;
};

/// Errors: those of make_prediction; a GPU that cannot hold such a layout is left out, with the reason, unless none
/// can.
Result<Comparison> make_comparison(const CompareOptions& options, const PredictSite& site);

std::string to_text(const Comparison& comparison);
/// Bars of time and of GPU-hours; pale what does not fit.
std::string to_svg(const Comparison& comparison);
/// {"model","time_of":"job"|"million_samples","gpus":[{"gpu","partition","gpus","nodes","step_ms","samples_per_s",
/// "time_s","p95_s","gpu_hours","node_hours","memory_bytes","device_bytes","fits"}],"left_out","assumed","warnings"}
Value to_value(const Comparison& comparison);

}  // namespace dlcast
