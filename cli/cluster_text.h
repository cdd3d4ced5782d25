// SPDX-License-Identifier: GPL-2.0-or-later
// The cluster file's partitions as `dlcast check` prints them.
#pragma once

#include <string>

#include "cli/check_site.h"

namespace dlcast {

/// A line for partitions of one kind (limit, nodes, GPUs), each kind of nodes below it; of very many kinds the first.
/// Empty where there are no partitions.
std::string cluster_text(const SiteReport& report);

}  // namespace dlcast
