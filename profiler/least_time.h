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

/// Runs of a point until it counts: one that the library may refuse, one that says how long it takes (`runs_before`),
/// two to warm up and three that are counted (repeat.cpp). A pass was warmed up by the two before.
inline constexpr int fewest_runs = 5, runs_before = 2, counted_runs = 3;

/// Seconds of one run, with all that stands around what it times.
double wall_s(PreparedWork& work);

class LeastTime {
public:
    explicit LeastTime(Backend& backend) : backend_(backend) {}
    /// Seconds of making up its tensors and of all these runs at the device's rates; a pass is a whole step each time,
    /// of `model` where it is known, with gradients, activations and the optimizer's scratch made up anew.
    double of_s(const SamplePoint& point, const ProfiledModel* model);
    /// It took so many seconds of wall time to prepare, first run included, and to run once: so will each pass of this
    /// model and batch, for each is a whole step.
    void took(const SamplePoint& point, double prepared_s, double once_s);

private:
    double counted_s(double flops);
    double flops_per_s();
    double making_s(double tensor_bytes);

    Backend& backend_;
    // Measured when they are asked for, 0 before: of a product, and of tensors made up.
    double flops_per_s_ = 0.0, made_Bps_ = 0.0;
    struct Seen {
        double prepared_s = 0.0, once_s = 0.0;
    };
    std::map<std::pair<std::string, std::int64_t>, Seen> seen_;  // by the model and batch of passes that ran
};

}  // namespace dlcast
