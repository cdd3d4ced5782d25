// SPDX-License-Identifier: GPL-2.0-or-later
// Which ranks and nodes are slower than the others at the same work.
#pragma once

#include <string>
#include <vector>

namespace dlcast {

/// Seconds of each rank (column) for the same points (rows).
using RankTimes = std::vector<std::vector<double>>;

struct RankSpeed {
    int rank = 0;
    std::string host;
    double relative = 1.0;  // geometric mean over points of this rank's time over the median of all ranks
    bool slow = false;
};

struct NodeSpeed {
    std::string host;
    double relative = 1.0;  // geometric mean of its ranks, over the median node
    bool slow = false;
};

struct Speeds {
    std::vector<RankSpeed> ranks;
    std::vector<NodeSpeed> nodes;  // in the order of their first rank
};

/// Slow is what takes a tenth longer than the median: more than repetitions of one machine differ.
inline constexpr double slow_from = 1.10;

/// Empty where there are no points.
Speeds compare_ranks(const RankTimes& times, const std::vector<std::string>& hosts);

}  // namespace dlcast
