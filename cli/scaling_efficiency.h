// SPDX-License-Identifier: GPL-2.0-or-later
// How well forecasts tell what more GPUs give: throughput a GPU against the smallest run of the same set-up.
#pragma once

#include <string>
#include <vector>

#include "cli/step_errors.h"

namespace dlcast {

struct ScalingFigures {
    std::size_t cases = 0;
    double error_points = 0.0;  // mean of |forecast efficiency - measured efficiency|, in per cent of the smallest run
    double perfect_points = 0.0;  // the same for a forecast of 100 %
};

struct ScalingReport {
    ScalingFigures all, several_nodes;
};

/// `cases`: one a group, each with its run. Those that train and have a smaller run of the same set-up count.
ScalingReport scaling_report(const std::vector<StepError>& cases);

std::string to_text(const ScalingReport& report);
/// {"cases","error_points","perfect_points","several_nodes":{..}}
Value to_value(const ScalingReport& report);

}  // namespace dlcast
