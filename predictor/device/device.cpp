// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/device/device.h"

namespace dlcast {

const char* to_string(Precision precision) {
    switch (precision) {
        case Precision::fp32:
            return "fp32";
        case Precision::tf32:
            return "tf32";
        case Precision::amp:
            return "amp";
        case Precision::fp16:
            return "fp16";
        case Precision::bf16:
            return "bf16";
        case Precision::fp8:
            return "fp8";
    }
    return "fp32";
}

}  // namespace dlcast
