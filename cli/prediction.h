// SPDX-License-Identifier: GPL-2.0-or-later
// What `dlcast predict` computes: a workload on one allocation, with what was assumed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/least_certain.h"
#include "predictor/job/choice.h"
#include "predictor/job/verdict.h"

namespace dlcast {

struct PredictOptions {
    std::string model;
    std::string gpu;  // as people write it
    int gpus = 0;     // in all; 0: one a node
    int nodes = 0;    // 0: as few as hold the GPUs; without a cluster nodes of the usual size
    std::string partition;
    double network_Gbps = 0;  // of one node; 0: the configuration's, or the usual one of such nodes
    WorkloadOverrides overrides;
};

/// What a forecast needs of the site; `cluster` may be null.
struct PredictSite {
    const SiteConfig* config;
    const DeviceCatalog* catalog;
    const Cluster* cluster;
    const LayerTimeModel* model;
    const StepWeights* steps;
    std::uint32_t uid = 0;  // whoever asks, for accounts and QOS of the cluster file; 0: not known there
};

struct Prediction {
    Workload workload;
    Placement placement;
    Candidate candidate;
    ForecastOrigin origin;
    std::int64_t largest_micro_batch = 0;        // that fits; 0: not even one sample does
    std::vector<std::string> assumed, warnings;  // the workload's, and those of the allocation
    std::vector<std::string> left_out;           // partitions, with the reason
    bool refused = false;                        // slurmctld would not take the job, for it does not fit
    std::string anchored;                        // how declared measurements changed the step; empty: there are none
    std::vector<UncertainLayers> least_certain;  // what the layers' spread comes from most
};

/// Errors: a model, GPU or partition that is not known, GPUs that do not divide over nodes, neither GPU nor cluster, a
/// layout or a batch that no place allows.
Result<Prediction> make_prediction(const PredictOptions& options, const PredictSite& site);

/// The site as `options` change it: --network-gbps wins over the configuration's network.
SiteConfig site_of(const PredictOptions& options, const SiteConfig& config);

/// The forecast on each of `placements`, in order, computed together and once for equal ones, with what declared
/// measurements say; of more than 64 without layers. Errors: those of estimate_steps, a measured step of an unknown
/// GPU.
Result<std::vector<Candidate>> candidates_on(const Workload& workload, const std::vector<Placement>& placements,
                                             const PredictSite& site);

}  // namespace dlcast
