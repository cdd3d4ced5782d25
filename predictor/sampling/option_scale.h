// SPDX-License-Identifier: GPL-2.0-or-later
// Options of a system (clock frequencies, cores on or off, batch sizes) on scales on which their effects are even.
#pragma once

#include <string>
#include <vector>

#include "predictor/sampling/matrix.h"

namespace dlcast {

/// Configurations of a system, one a row; the measured value is kept apart on purpose.
struct Configurations {
    std::vector<std::string> options;  // names of the columns
    Matrix values;                     // configurations x options
};

/// How one option enters the models. `level` is log(v) where all values in the source are positive (a clock's effect is
/// a factor), v itself otherwise (a switch), with mean 0 and standard deviation 1 over the source. `pace` is 1 / v
/// where all are positive (seconds of work are cycles over clock), v otherwise, scaled likewise.
struct OptionScale {
    std::string name;
    bool positive = false;
    double level_mean = 0.0, level_sd = 1.0;
    double pace_mean = 0.0, pace_sd = 1.0;
    std::vector<double> levels;  // scaled, distinct, at most 12, evenly taken from those of the source

    double level(double value) const;
    double pace(double value) const;
};

/// The scale of one column; an option that never changes has no `levels`.
OptionScale scale_of(const std::string& name, const std::vector<double>& values);

}  // namespace dlcast
