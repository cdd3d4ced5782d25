// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace dlcast {

/// Tasks of sbatch's --array text: `0-9%3,12,20-30:2`; one that is named twice runs once. Nothing where the text is no
/// array or an index is above Slurm's largest. Source: sbatch(1), --array.
std::optional<std::int64_t> count_array_tasks(std::string_view array);

}  // namespace dlcast
