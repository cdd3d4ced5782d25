// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string_view>

namespace dlcast {

/// Does a batch script give --dl-model to a component behind its first `#SBATCH hetjob` line? sbatch keeps the first
/// component's value for all of them, so that this one is never seen. Source: sbatch(1), Slurm 22.05's opt handling.
bool gives_model_to_later_component(std::string_view script);

}  // namespace dlcast
