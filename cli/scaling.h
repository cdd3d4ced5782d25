// SPDX-License-Identifier: GPL-2.0-or-later
// One training over many GPU counts on many kinds of nodes: time, efficiency, cost, and where more GPUs stop paying.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/prediction.h"

namespace dlcast {

struct ScaleOptions {
    PredictOptions predict;         // without a GPU count
    std::vector<std::string> gpus;  // by name; empty: the partitions of the cluster file
    int max_gpus = 0;               // 0: what a partition has, 64 of a GPU by name
};

struct ScalePoint {
    Placement placement;
    Candidate candidate;
    double samples_per_s = 0.0;
    double efficiency = 1.0;  // samples a second and GPU, over those of the curve's first point
    double time_s = 0.0;      // median run time, or without a duration that of a million samples
    double gpu_hours = 0.0;
    double cost = 0.0;  // GPU-hours times the partition's billing weight
    int gpus() const { return candidate.allocation.world_size(); }
    bool fits() const { return candidate.fits_memory && candidate.fits_time; }
};

/// Points of one kind of node, by ascending GPU count.
struct ScaleCurve {
    std::string name;  // "a100 (partition gpu)", or the GPU's own
    std::vector<ScalePoint> points;
    /// The last point before growth stops paying: each step up to it won at least half of the samples a second that as
    /// many more GPUs could. Nothing: every step does.
    std::optional<std::size_t> knee;
};

struct Scaling {
    Workload workload;
    std::vector<ScaleCurve> curves;
    const ScalePoint* fastest = nullptr;   // of the points that fit, the least time
    const ScalePoint* cheapest = nullptr;  // the least cost; of equal ones fewer GPUs
    bool has_duration = false;
    std::vector<std::string> assumed, warnings, left_out;  // left_out: counts and partitions, with the reason
};

/// Forecasts the training on 1, 2, 4, ... GPUs (times the ranks of one replica) and on the most there are. A batch size
/// per GPU is kept, so that the global batch grows; with `batch_per` global that is kept and divided. Steps that are
/// declared with a batch per GPU count as the samples they see on the fewest GPUs. Data ranks follow the GPU count,
/// whatever `dp` says. Errors: those of make_prediction, and no count that can be.
Result<std::unique_ptr<Scaling>> make_scaling(const ScaleOptions& options, const PredictSite& site);

/// What stays when GPUs, or nodes of CPUs, are added, in words; `unit` as unit_of has it.
std::string kept_batch(const Workload& workload, const char* unit);

}  // namespace dlcast
