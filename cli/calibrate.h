// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast calibrate`: which few of many possible measurements tell most about a new machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/device/device.h"
#include "predictor/samples/sample_point.h"
#include "predictor/timing/layer_time_model.h"

namespace dlcast {

inline constexpr double usual_share = 0.024;  // of the space, where no budget is given

struct OperatorSpace {
    std::vector<std::string> models;        // zoo names or files
    std::vector<std::int64_t> batch_sizes;  // of one GPU; empty: a quarter, half, once and twice the model's own
    std::vector<std::string> precisions;    // empty: the model's own
};

/// What a group gets of the plan.
struct PlannedGroup {
    std::string name;  // "conv2d", "linear on tensor units"
    std::size_t candidates = 0, chosen = 0;
};

struct OperatorPlan {
    std::vector<Operator> operators;  // to measure, group by group, in the order in which they tell most
    std::vector<PlannedGroup> groups;
    std::size_t least = 0;  // that such a plan has, by its groups
};

/// Chooses among the distinct operators of the models' training steps, forward and backward, by
/// timing/choose_operators.h. Every group gets a part of the budget by the number of its candidates, three at least
/// (what refine can judge). Operators that the network does not know cannot be refined and are left out. `budget` 0: a
/// share of usual_share, or these three of each group where they are more. Errors: models, an unknown precision, a
/// budget over the candidates or under three of each group, those of the network.
Result<OperatorPlan> plan_operators(const OperatorSpace& space, const Device& device, const LayerTimeModel& model,
                                    std::size_t budget, std::uint64_t seed);

struct TablePlanRequest {
    std::string source;                // measured everywhere
    std::string candidates;            // table of the new machine's configurations; empty: those of the source
    std::string column;                // what is measured
    std::vector<std::string> options;  // empty: told by the tables
    std::size_t budget = 0;            // 0: a share of usual_share
    std::uint64_t seed = 1;
};

struct TablePlan {
    std::vector<std::string> options;
    std::vector<std::string> names;           // of the chosen configurations
    std::vector<std::vector<double>> values;  // of their options
    std::size_t candidates = 0;
};

/// Chooses configurations of a table by what its source machine teaches (predictor/sampling/choose.h); no value of the
/// new machine is read. Errors: see sampling_table.h, predictor/sampling/effects.h, choose.h.
Result<TablePlan> plan_configurations(const TablePlanRequest& request);

}  // namespace dlcast
