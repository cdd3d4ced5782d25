// SPDX-License-Identifier: GPL-2.0-or-later
// Seconds of one optimizer step, from its sizes, the GPU's data sheet, the links and the constants of the model:
//     step = (forward + backward) passes waiting + update + exposed communication + host
// A phase is the sum of its kernels, or what the host needs to issue them.
#pragma once

#include "predictor/step/dual.h"
#include "predictor/step/step_coefficients.h"
#include "predictor/step/step_work.h"

namespace dlcast {

template <class T>
struct StepTimes {
    T forward_s{0.0}, backward_s{0.0};  // all micro-steps, and the pipeline's filling
    T update_s{0.0};
    T communication_s{0.0}, exposed_s{0.0};  // all of it; what compute does not hide
    T host_s{0.0};                           // once a step, beside kernels
    T step_s{0.0};
};

/// The constant of the weights that host_s comes from.
StepConstant host_step_constant(Host host);

StepTimes<double> step_times(const StepWork& work, const StepCoefficients& coefficients);

/// The same, with the slope by every constant on its fitting scale.
using StepDual = Dual<constant_count>;
StepTimes<StepDual> step_slopes(const StepWork& work, const StepCoefficients& coefficients);

/// Device seconds of one micro-step of each distinct layer (one of them), before stages divide them, and what bounds
/// forward and backward: "compute", "memory" or "launch".
struct LayerSeconds {
    double forward_s = 0.0, backward_s = 0.0;
    const char* bound = "memory";
};
std::vector<LayerSeconds> layer_seconds(const StepWork& work, const StepCoefficients& coefficients);

}  // namespace dlcast
