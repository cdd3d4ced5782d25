// SPDX-License-Identifier: GPL-2.0-or-later
// Collectives of one library over all ranks: MPI, or NCCL where there are GPUs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mpi/ranks.h"
#include "predictor/step/nccl_fabric.h"

namespace dlcast {

/// Those that a sweep measures.
inline constexpr Collective swept_collectives[] = {Collective::all_reduce,     Collective::all_gather,
                                                   Collective::reduce_scatter, Collective::alltoall,
                                                   Collective::broadcast,      Collective::sendrecv};

class CollectiveRunner {
public:
    virtual ~CollectiveRunner() = default;
    virtual std::string library() const = 0;  // "mpi", "nccl"
    virtual std::map<std::string, std::string> versions() const = 0;
    /// Seconds of this rank's part of one collective of fp32 elements. `bytes` as nccl-tests counts: the whole array,
    /// rounded down to whole elements of each rank. All ranks call it together.
    virtual double run_s(Collective collective, std::uint64_t bytes) = 0;
};

/// MPI's non-blocking collectives on host memory, waited for by `ranks`: those that a step uses while backward goes on.
std::unique_ptr<CollectiveRunner> make_mpi_collectives(Ranks& ranks, std::uint64_t most_bytes);

/// NCCL on this rank's GPU. unavailable: this build has no NCCL, or the machine no GPU.
Result<std::unique_ptr<CollectiveRunner>> make_nccl_collectives(Ranks& ranks, std::uint64_t most_bytes);

/// "all_reduce of 1024 bytes"
std::string describe(Collective collective, std::uint64_t bytes);

}  // namespace dlcast
