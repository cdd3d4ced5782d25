// SPDX-License-Identifier: GPL-2.0-or-later
// Which configurations to measure on a new machine.
#pragma once

#include <cstdint>
#include <vector>

#include "predictor/sampling/effects.h"

namespace dlcast {

/// `budget` distinct indices into `candidates`, so chosen that the expected squared error of the log ratio over all
/// candidates is least (V-optimality) under the prior of transfer_prior.h, averaged over which terms count. A greedy
/// start from a candidate drawn by `seed`, then Fedorov's exchange until no exchange helps. Nothing measured on the new
/// machine enters. Beyond 768 candidates a random part stands for all. Errors (invalid_argument): a budget of 0 or
/// over the candidates; an option is missing.
/// Sources: Fedorov, Theory of Optimal Experiments (1972); Atkinson, Donev & Tobias, Optimum Experimental Designs, with
/// SAS (2007), ch. 10 and 12.
Result<std::vector<std::size_t>> choose_configurations(const Effects& effects, const Configurations& candidates,
                                                       std::size_t budget, std::uint64_t seed);

}  // namespace dlcast
