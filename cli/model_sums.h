// SPDX-License-Identifier: GPL-2.0-or-later
// Measured passes of whole models as sums of operators: the second level of supervision.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/models_table.h"
#include "cli/training_rows.h"
#include "predictor/timing/features.h"
#include "predictor/torch/torch_abi.h"

namespace dlcast {

/// One pass, forward or backward, of one model on one GPU.
struct ModelPass {
    const Device* device = nullptr;  // owned by NamedDevices
    std::vector<OperatorUse> operators;
    double measured_s = 0.0;
    std::string source;
};

/// Of the rows of `end_to_end` whose operators `opgraphs` lists: one GPU, one operator at a time (not fused), fp32.
/// Left out: excluded GPUs, sources and families, and the rows beside which several predictors published a forecast:
/// they judge ours. Errors: unreadable file, broken CSV.
Result<std::vector<ModelPass>> collect_model_passes(const std::string& end_to_end, const std::string& opgraphs,
                                                    NamedDevices& devices, const Exclusions& exclusions);

/// The same as the module wants them.
struct ModelSums {
    std::array<FeatureTable, net_count> tables{FeatureTable(Net::conv), FeatureTable(Net::product),
                                               FeatureTable(Net::memory)};
    std::array<std::vector<std::int32_t>, net_count> sum;
    std::array<std::vector<float>, net_count> count;
    std::vector<float> log_time, other_s;

    /// Points into this.
    dlcast_torch_sums view() const;
};

/// The time of operators that no network knows is the analytic model's. Errors: a device without rates.
Result<ModelSums> sums_of(const std::vector<ModelPass>& passes,
                          const std::array<std::vector<NamedGroup>, net_count>& groups);

}  // namespace dlcast
