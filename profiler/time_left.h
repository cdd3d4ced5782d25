// SPDX-License-Identifier: GPL-2.0-or-later
// How long a list of measurements will go on: by what was measured of it, and by its budget.
#pragma once

#include <optional>
#include <string>

namespace dlcast {

struct TimeLeft {
    std::optional<double> points_s;  // likely, for all points that are left; nothing before the first was measured
    double budget_s = 0.0;           // then it ends
};

/// "about 40 s left", or, where the budget ends sooner, "the budget ends in 12 s".
std::string to_string(const TimeLeft& left);

/// Learns from points that were measured; what was passed over says nothing of the others.
class Pace {
public:
    /// `weight`: how much longer than others this point may take.
    void measured(double weight, double seconds) {
        weight_ += weight;
        seconds_ += seconds;
    }
    TimeLeft left(double weight_left, double budget_s) const {
        TimeLeft out{std::nullopt, budget_s};
        if (weight_ > 0.0) out.points_s = seconds_ / weight_ * weight_left;
        return out;
    }

private:
    double weight_ = 0.0, seconds_ = 0.0;
};

}  // namespace dlcast
