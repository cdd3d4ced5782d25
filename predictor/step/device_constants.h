// SPDX-License-Identifier: GPL-2.0-or-later
// What of the step-time model depends on a device's generation, and what its board's power sustains.
#pragma once

#include "predictor/device/device.h"
#include "predictor/step/step_coefficients.h"
#include "predictor/step/work_item.h"

namespace dlcast {

/// The constants of a generation. A newer one takes its predecessor's.
struct DeviceConstants {
    StepConstant tensor, tf32, simt, memory;
};
DeviceConstants device_constants(const Device& device);

/// Consumer boards clock above their sheet and have no error correction.
bool is_geforce(const Device& device);

/// Dense data-sheet peak of a unit; 0: the device has none.
double peak_flops_per_s(const Device& device, ArithmeticUnit unit);

/// FLOP/s that the board's power feeds, if one watt fed 1 TFLOP/s in a 12 nm process: the power that memory at full
/// rate and idling leave, times the process' gain, times the energy of the unit's format against half precision (fp32
/// on vector units).
double fed_flops_per_w_s(const Device& device, ArithmeticUnit unit);

/// Standard deviation of log time that a board's clocks add where nobody has measured it: 0 where its power feeds the
/// vector units at their peak, more the less it does. Such boards (T4, L4) vary by 20 to 40 % between servers.
double clock_log_sd(const Device& device);

}  // namespace dlcast
