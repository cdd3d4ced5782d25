// SPDX-License-Identifier: GPL-2.0-or-later
// The GPUs a submission asks for, read from Slurm's TRES texts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "predictor/base/result.h"
#include "predictor/job/forecaster.h"

namespace dlcast {

struct GpuCount {
    std::string type;  // GRES type as written; empty: any
    std::int64_t count = 0;
};

/// The GPUs in one TRES list: `gpu`, `gpu:4`, `gpu:a100`, `gpu:a100:4`, `gpu=2`, each also after "gres:" or "gres/",
/// beside other resources, counts with the suffix k or m (x 1024). Nothing where no GPU is named. Errors: a count that
/// is no number, two types.
Result<std::optional<GpuCount>> parse_gpu_tres(std::string_view tres);

/// GPUs of a job; 0 stands for what the request leaves open.
struct GpuRequest {
    std::string type;
    int gpus = 0;  // in all
    int nodes = 0;
    int gpus_per_node = 0;
};

/// Nothing where no GPU is asked for. Errors: an unreadable list, or counts that contradict one another.
Result<std::optional<GpuRequest>> read_gpu_request(const SubmitRequest& request);

}  // namespace dlcast
