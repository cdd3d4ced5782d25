// SPDX-License-Identifier: GPL-2.0-or-later
// Is the whole the sum of its layers? What was measured of a model one operator at a time, beside the model itself.
#pragma once

#include <string>
#include <vector>

#include "profiler/points.h"
#include "profiler/profile.h"

namespace dlcast {

struct LayerSum {
    Pass pass = Pass::forward;
    double layers_s = 0.0;  // sum over the pass's operators, each as often as it runs
    double whole_s = 0.0;   // the pass measured as one; 0: it was not
    int missing = 0;        // operators without a sample: the sum lacks them
    double error() const { return whole_s > 0.0 ? layers_s / whole_s - 1.0 : 0.0; }
};

/// One for each pass of the model.
std::vector<LayerSum> layer_sums(const ProfiledModel& model, const Backend& backend, const ProfileOptions& options,
                                 const SampleFile& file);

}  // namespace dlcast
