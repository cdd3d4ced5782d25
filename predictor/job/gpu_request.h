// SPDX-License-Identifier: GPL-2.0-or-later
// The GPUs a submission asks for, read from Slurm's TRES texts and counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/job/forecaster.h"

namespace dlcast {

struct GpuCount {
    std::string type;  // GRES type as written; empty: any
    std::int64_t count = 0;
};

/// The GPUs in one TRES list: `gpu`, `gpu:4`, `gpu:a100`, `gpu:a100:4`, `gpu=2`, each also after "gres:" or "gres/",
/// beside other resources, counts with the suffix k, m or g (x 1024). Entries of one type, and one without a type, are
/// the same GPUs asked for twice (--gres beside --gpus-per-node): the last count holds, as Slurm has it. Nothing where
/// no GPU is named. Errors: a count that is no number, two types.
Result<std::optional<GpuCount>> parse_gpu_tres(std::string_view tres);

/// GPUs of a job; 0 stands for what the request leaves open.
struct GpuRequest {
    std::string type;
    int gpus = 0;       // in all; 0: all of the nodes (`whole_nodes`)
    int nodes = 0;      // at least
    int max_nodes = 0;  // at most; equal to `nodes` where their number is fixed
    int gpus_per_node = 0;
    bool whole_nodes = false;            // --exclusive without a count of GPUs
    bool on_cpu = false;                 // no GPU: each node computes by itself
    std::vector<std::string> assumed{};  // as sentences
};

/// Nothing where no GPU is asked for. Errors: an unreadable list, or counts that contradict one another.
Result<std::optional<GpuRequest>> read_gpu_request(const SubmitRequest& request);

}  // namespace dlcast
