// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/least_step.h"

#include "predictor/timing/least_time.h"

namespace dlcast {
namespace {

bool is_product(const Operator& op) {
    switch (op.kind) {
        case OperatorKind::conv2d:
        case OperatorKind::linear:
        case OperatorKind::bmm:
        case OperatorKind::attention:
        case OperatorKind::recurrent:
            return true;
        default:
            return false;
    }
}

}  // namespace

double least_step_s(const StepWork& work) {
    double seconds = 0.0;
    for (const LayerWork& layer : work.layers)
        for (const OperatorUse& use : layer.operators)
            if (is_product(use.op)) seconds += layer.count * use.count * least_arithmetic_s(work.device, use.op);
    return seconds * work.micro_steps * work.stage;
}

}  // namespace dlcast
