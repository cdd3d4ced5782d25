// SPDX-License-Identifier: GPL-2.0-or-later
// What a profile measures: the distinct operators of its models, and passes of the whole models to hold them against.
#pragma once

#include <string>
#include <vector>

#include "predictor/model/workload.h"
#include "predictor/samples/sample_point.h"
#include "predictor/timing/lowering.h"

namespace dlcast {

/// A model as it will train, and its operators.
struct ProfiledModel {
    std::string name;  // as it was named
    ModelSpec model;
    Training training;
    std::vector<OperatorUse> forward, backward, update;  // of one step, distinct, with their counts
};

/// Lowers the workload for its batch size; backward adds each layer's gradients to those kept.
ProfiledModel profiled_model(const std::string& name, const Workload& workload);

inline constexpr Pass all_passes[] = {Pass::forward, Pass::backward, Pass::update, Pass::step};

/// A pass of the model on one rank.
MeasuredPass pass_of(const ProfiledModel& model, Pass pass);

/// Passes of each model (forward, backward, update, step), then each operator once, the costliest first, so that a
/// budget that ends early left out what matters least.
std::vector<SamplePoint> points_of(const std::vector<ProfiledModel>& models);

/// "conv2d backward_weight fp32 (batch 8, in_ch 3, ...)", "resnet18 forward (batch 8, fp32)".
std::string describe(const SamplePoint& point);

}  // namespace dlcast
