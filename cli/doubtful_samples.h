// SPDX-License-Identifier: GPL-2.0-or-later
// Samples that cannot be right: faster than their device, far off any forecast, or against one another.
#pragma once

#include <string>

#include "cli/say.h"
#include "cli/site_samples.h"
#include "predictor/timing/layer_time_model.h"

namespace dlcast {

/// "a step of resnet50 (batch 32, fp32) on L40S", "linear forward (m 8, k 128, n 10, fp32) on L40S"
std::string sample_words(const SampledPass& sample);
std::string sample_words(const SampledCall& call, const std::string& gpu);
/// "all_reduce (1024 bytes, 8 ranks, nodes 1) on L40S"
std::string sample_words(const SampledCollective& sample);

/// Below 1 / peak_tolerance of `least_s` (least_time.h, least_step.h).
bool is_too_fast(const SampledTime& time, double least_s);

/// Why a time cannot be: below 1 / peak_tolerance of `least_s` (least_time.h, least_step.h), or more than largest_ratio
/// (step_factor.h) off its forecast; with place, times and what to check. Empty where it may be.
std::string doubt_about(const SampledTime& time, const std::string& what, const std::string& gpu, double least_s,
                        double forecast_s);

/// Takes calls that cannot be out of `samples` and says which; counts those that are too fast. `network` forecasts
/// without what was refined before. Errors: a failing network.
Status leave_out_impossible_calls(SiteSamples& samples, const LayerTimeModel& network, const Say& say);

/// Where several samples of a device are too fast for an entry that dlcast-profile measured, says that the entry is
/// more likely wrong, and what to do. `entries_file` holds the site's entries.
void say_low_entries(const SiteSamples& samples, const DeviceCatalog& catalog, const std::string& entries_file,
                     const Say& say);

/// Samples of one call, of one size of a collective over one group, or of one step of a model in one setting, on one
/// device contradict each other where their medians are more than a factor of two apart and do not lie within each
/// other's extremes. Those that most agree with stay, where they are more than half; else none of them does. Says
/// which.
void leave_out_contradictions(SiteSamples& samples, const Say& say);

}  // namespace dlcast
