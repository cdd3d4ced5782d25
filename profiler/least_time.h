// SPDX-License-Identifier: GPL-2.0-or-later
// What a point takes at least, known before its tensors are made up: to stay within a budget.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "profiler/backend.h"
#include "profiler/points.h"

namespace dlcast {

/// Runs of a point until it counts: one that the library may refuse, one that says how long it takes, two to warm up
/// and three that are counted (repeat.cpp).
inline constexpr int fewest_runs = 5, runs_before = 2;

/// Seconds of one run, with all that stands around what it times.
double wall_s(PreparedWork& work);

class LeastTime {
public:
    explicit LeastTime(Backend& backend) : backend_(backend) {}
    /// Seconds of making up its tensors and of all these runs at the device's rates; a pass is a whole step each time,
    /// of `model` where it is known.
    double of_s(const SamplePoint& point, const ProfiledModel* model);
    /// One run took so many seconds of wall time: each pass of this model and batch will, for each is a whole step.
    void took(const SamplePoint& point, double once_s);

private:
    double flops_per_s();
    double making_s(double tensor_bytes);

    Backend& backend_;
    // Measured when they are asked for, 0 before: of a product, and of tensors made up.
    double flops_per_s_ = 0.0, made_Bps_ = 0.0;
    std::map<std::pair<std::string, std::int64_t>, double> step_s_;  // of the model and batch of passes that ran
};

}  // namespace dlcast
