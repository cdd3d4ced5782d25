// SPDX-License-Identifier: GPL-2.0-or-later
// Measures points one by one into a file, within a budget of time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "profiler/backend.h"
#include "profiler/points.h"
#include "profiler/repeat.h"
#include "profiler/sample_file.h"
#include "profiler/time_left.h"

namespace dlcast {

struct ProfileOptions {
    double budget_s = 600.0;
    RepeatPolicy policy = {};  // most_s follows from the budget
    int rank = 0;
    std::string host = {};
};

/// Before each point: how many are done of how many, how long it will go on, the next one.
using Progress = std::function<void(std::size_t done, std::size_t of, const TimeLeft& left, const SamplePoint& next)>;

/// What cannot be measured, and why.
struct Refusal {
    std::string point, why;
};

struct ProfileResult {
    std::size_t measured = 0, known = 0, left = 0;  // known: in the file before; left: the budget was over
    std::vector<Refusal> refused;
    double spent_s = 0.0, lost_s = 0.0;  // lost: on points that were begun and then left
};

/// Appends a sample for each point that `file` lacks, each once however often it is named. A pass needs its model among
/// `models`. What will take much more than its share of the budget waits until all others had their turn. Errors: the
/// file alone; what cannot be measured is `refused`.
Result<ProfileResult> profile(Backend& backend, const std::vector<ProfiledModel>& models,
                              const std::vector<SamplePoint>& points, const ProfileOptions& options, SampleFile& file,
                              const Progress& progress);

/// A sample of `point` by this backend, without figures.
TimingSample blank_sample(const Backend& backend, const SamplePoint& point, const ProfileOptions& options);
/// Fills the figures in.
void put_statistics(TimingSample& sample, const Statistics& statistics);

}  // namespace dlcast
