// SPDX-License-Identifier: GPL-2.0-or-later
// A GPU that trained nothing, from a few rows measured on it: the three constants that a network would have learnt.
#pragma once

#include <functional>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/timing/layer_time_model.h"

namespace dlcast {

/// How far such constants lie apart (standard deviations of logarithms): learnt ones of the public tables' GPUs spread
/// so. `row_log_sd` is what a single row strays from a well-fitted group.
struct GroupPrior {
    double launch_sd = 0.7, compute_sd = 0.3, memory_sd = 0.3;
    double row_log_sd = 0.12;
};

/// Forecast log times (natural, of seconds) of the measured rows under these offsets, in order.
using LogTimes = std::function<Result<std::vector<double>>(const GroupOffsets&)>;

/// Offsets that minimise
///     sum |log measured - log forecast| / row_log_sd + sum (offset / sd)^2 / 2,
/// the first term quadratic below 0.05: a few stray rows move little, and what the rows do not show stays at 0. No row
/// gives offsets of 0. Errors: those of `forecast`; forecasts that are no numbers.
Result<GroupOffsets> fit_group_offsets(const std::vector<double>& measured_log_s, const LogTimes& forecast,
                                       const GroupPrior& prior = {});

}  // namespace dlcast
