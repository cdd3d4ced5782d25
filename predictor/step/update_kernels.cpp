// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/update_kernels.h"

#include <algorithm>
#include <cmath>

namespace dlcast {

UpdateKernels update_kernels(Optimizer optimizer) {
    switch (optimizer) {
        case Optimizer::none:
            return {0, 1};
        case Optimizer::sgd:
            return {3, 1.3};
        case Optimizer::momentum:
            return {5, 1.5};
        case Optimizer::adagrad:
            return {6, 1.7};
        case Optimizer::rmsprop:
        case Optimizer::adadelta:
            return {9, 1.8};
        case Optimizer::adam:
        case Optimizer::adamw:
            return {10, 2.0};
        case Optimizer::lars:
            return {14, 2.0};
        case Optimizer::adafactor:
        case Optimizer::lamb:
            return {22, 2.0};
    }
    return {};
}

double update_lists(double tensors, double parameters) {
    return std::ceil(std::max(tensors / 100, parameters / (320.0 * 65536)));
}

}  // namespace dlcast
