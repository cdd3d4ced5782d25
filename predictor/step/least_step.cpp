// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/least_step.h"

#include "predictor/timing/least_time.h"
#include "predictor/timing/physics.h"

namespace dlcast {

double least_step_s(const StepWork& work) {
    double seconds = 0.0;
    for (const LayerWork& layer : work.layers)
        for (const OperatorUse& use : layer.operators)
            if (is_product(use.op)) seconds += layer.count * use.count * least_arithmetic_s(work.device, use.op);
    return seconds * work.micro_steps * work.stage;
}

}  // namespace dlcast
