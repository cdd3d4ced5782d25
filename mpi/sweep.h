// SPDX-License-Identifier: GPL-2.0-or-later
// The three parts of a sweep: layers on every rank, collectives over sizes, data-parallel training steps. All ranks
// call them together; rank 0's file takes the samples.
#pragma once

#include <functional>
#include <vector>

#include "mpi/collective_runner.h"
#include "mpi/slow_ranks.h"
#include "profiler/open_device.h"
#include "profiler/profile.h"

namespace dlcast {

struct SweepOptions {
    double relative_ci = 0.02;
    std::uint64_t least_bytes = 1024, most_bytes = 64 << 20;
    std::vector<Collective> collectives{std::begin(swept_collectives), std::end(swept_collectives)};
};

struct SweepContext {
    Ranks& ranks;
    Backend& backend;
    SampleFile* file;  // of rank 0; null elsewhere
    const SweepOptions& options;
};

struct SweepResult {
    std::size_t measured = 0, known = 0, left = 0;
    std::vector<Refusal> refused;
    RankTimes times;  // of layers, by point and rank
};

// `budget_s`: a part's time, by rank 0's clock; what cannot end within it is left, what the memory does not hold is
// refused.

/// Every distinct operator of the models at the same time on all ranks; a sample a rank.
SweepResult sweep_layers(const SweepContext& context, const std::vector<ProfiledModel>& models, double budget_s);

/// For arrays of so many bytes at most.
using CollectivesMaker = std::function<Result<std::unique_ptr<CollectiveRunner>>(std::uint64_t most_bytes)>;

/// Sizes from the least to the most in steps of 4; a sample a size, with the slowest rank's time.
SweepResult sweep_collectives(const SweepContext& context, const CollectivesMaker& make, double budget_s);

/// For each model a step with gradients averaged in buckets, and one beside each other without exchange: their
/// difference is the communication that backward does not hide. One rank takes the latter alone.
SweepResult sweep_steps(const SweepContext& context, const std::vector<ProfiledModel>& models, double budget_s);

}  // namespace dlcast
