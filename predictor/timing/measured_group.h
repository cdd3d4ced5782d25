// SPDX-License-Identifier: GPL-2.0-or-later
// What a few measured calls of one GPU teach about the others of their group: three constants (group_fit.h), then a
// smooth rest (group_residual.h).
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "predictor/timing/features.h"
#include "predictor/timing/group_fit.h"
#include "predictor/timing/group_residual.h"

namespace dlcast {

/// One measured call; `op` must outlive what is made of it only while it is fitted.
struct MeasuredOperator {
    const Operator* op = nullptr;
    Clock clock = Clock::kernel;
    double time_s = 0.0;  // above 0
};

/// Kinds of operators whose kernels are written alike.
enum class OperatorFamily { conv2d, linear, bmm, elementwise, row_wise };
inline constexpr std::array<std::string_view, 5> operator_family_names{"conv2d", "linear", "bmm", "elementwise",
                                                                       "row-wise"};

/// Calls that share constants: one family, clocks of a host's session or of the GPU, tensor units or not.
struct OperatorGroup {
    OperatorFamily family = OperatorFamily::conv2d;
    bool session = false;
    bool tensor_units = false;
    auto operator<=>(const OperatorGroup&) const = default;
};
/// Nothing where no network knows the operator.
std::optional<OperatorGroup> group_of(const Operator& op, const Device& device, Clock clock);

struct FittedGroup {
    GroupOffsets offsets;
    GroupResidual residual;
};

/// Fits calls of one group on one device. Errors: those of the model; a forecast that is no number.
Result<FittedGroup> fit_group(const std::vector<MeasuredOperator>& measured, const Device& device,
                              const LayerTimeModel& model);

}  // namespace dlcast
