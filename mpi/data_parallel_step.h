// SPDX-License-Identifier: GPL-2.0-or-later
// A real data-parallel training step: each rank trains the same network, and gradients are averaged over the ranks in
// buckets while backward goes on.
#pragma once

#include <memory>

#include "mpi/buckets.h"
#include "mpi/ranks.h"
#include "profiler/backend.h"

namespace dlcast {

class DataParallelStep {
public:
    static constexpr std::int64_t mebibyte = 1 << 20;
    static constexpr std::int64_t first_bucket_bytes = 1 * mebibyte, other_bucket_bytes = 25 * mebibyte;

    /// Buckets of fp32 gradients; `exchange` false: the ranks train beside each other and send nothing.
    DataParallelStep(Ranks& ranks, std::unique_ptr<TrainingNetwork> network, bool exchange);

    /// One step: forward, backward with all-reduces, update. Seconds on this rank.
    double run_s();
    std::size_t buckets() const { return buckets_.size(); }
    /// All gradients as they lie in memory, bucket by bucket.
    const std::vector<float>& gradients() const { return memory_; }

private:
    void ready(std::size_t gradient);
    void send_whole_buckets();

    Ranks& ranks_;
    std::unique_ptr<TrainingNetwork> network_;
    bool exchange_;
    std::vector<Bucket> buckets_;
    std::vector<float> memory_;
    std::vector<std::size_t> bucket_of_;  // by gradient
    std::vector<std::int64_t> offset_;    // of buckets in memory
    std::vector<std::size_t> open_;       // gradients that a bucket waits for
    std::size_t sent_ = 0;                // buckets go in order on all ranks
    std::vector<MPI_Request> requests_;
};

}  // namespace dlcast
