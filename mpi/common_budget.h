// SPDX-License-Identifier: GPL-2.0-or-later
// The time of one part of a sweep, by rank 0's clock: all ranks go on or stop together.
#pragma once

#include <string>

#include "mpi/ranks.h"
#include "profiler/time_left.h"

namespace dlcast {

/// All ranks call each function together and get the same answer.
class CommonBudget {
public:
    /// `points` of `part` within `seconds` (rank 0's counts).
    CommonBudget(Ranks& ranks, std::string part, std::size_t points, double seconds);

    /// The next point begins; false: time is up, and this one and all behind it are left. Rank 0 says on stderr what it
    /// is, every ten seconds.
    bool begin(const std::string& next);
    /// Whether work fits into the time left that takes at least `least_s` on the slowest rank.
    bool holds(double least_s);
    /// Seconds for the point at most, of those left when holds() was last asked.
    double most_s() const;
    /// The point was measured.
    void measured();

private:
    double rest_s() const;

    Ranks& ranks_;
    std::string part_, next_;
    std::size_t left_;  // points, the one at work included
    double end_s_, begun_s_ = 0.0, said_s_;
    double share_s_ = 0.0, agreed_rest_s_ = 0.0;
    Pace pace_;
};

}  // namespace dlcast
