// SPDX-License-Identifier: GPL-2.0-or-later
// Which calls to measure on a new GPU, so that its constants and the rest beside them are known best.
#pragma once

#include <cstdint>
#include <vector>

#include "predictor/timing/group_fit.h"
#include "predictor/timing/measured_group.h"

namespace dlcast {

/// `budget` distinct indices into `candidates`, calls of one group on a device that nothing is known of but its data
/// sheet, in the order in which they tell most: each is the one whose measurement leaves least variance of the log
/// time, summed over all candidates (V-optimality), when the group's three constants stray by `prior` and the rest is
/// that of group_residual.h. No measured time enters. Beyond 1,024 candidates a random part stands for all (`seed`). A
/// budget over the candidates takes all. Errors: those of the model. Source: Atkinson, Donev & Tobias, Optimum
/// Experimental Designs, with SAS (2007), ch. 10.
Result<std::vector<std::size_t>> choose_operators(const std::vector<OperatorQuery>& candidates,
                                                  const LayerTimeModel& model, std::size_t budget, std::uint64_t seed,
                                                  const GroupPrior& prior = {});

}  // namespace dlcast
