// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/timing/measured_group.h"

#include <cmath>

#include "predictor/timing/physics.h"

namespace dlcast {
namespace {

OperatorFamily family_of(OperatorKind kind) {
    switch (kind) {
        case OperatorKind::conv2d:
            return OperatorFamily::conv2d;
        case OperatorKind::linear:
            return OperatorFamily::linear;
        case OperatorKind::bmm:
            return OperatorFamily::bmm;
        case OperatorKind::elementwise:
        case OperatorKind::dropout:
        case OperatorKind::copy:
            return OperatorFamily::elementwise;
        default:
            return OperatorFamily::row_wise;
    }
}

}  // namespace

std::optional<OperatorGroup> group_of(const Operator& op, const Device& device, Clock clock) {
    if (!net_of(op)) return std::nullopt;
    return OperatorGroup{family_of(op.kind), clock == Clock::session, on_tensor_units(device, op)};
}

Result<FittedGroup> fit_group(const std::vector<MeasuredOperator>& measured, const Device& device,
                              const LayerTimeModel& model) {
    std::vector<double> measured_log_s;
    for (const MeasuredOperator& call : measured) measured_log_s.push_back(std::log(call.time_s));
    const auto log_times = [&](const GroupOffsets& offsets) -> Result<std::vector<double>> {
        std::vector<OperatorQuery> queries;
        for (const MeasuredOperator& call : measured) queries.push_back({call.op, &device, call.clock, &offsets});
        const auto times = model.times(queries);
        if (!times) return times.error();
        std::vector<double> logs;
        for (const OperatorTime& time : *times) logs.push_back(std::log(time.median_s));
        return logs;
    };
    const auto offsets = fit_group_offsets(measured_log_s, log_times);
    if (!offsets) return offsets.error();
    const auto forecast_log_s = log_times(*offsets);
    if (!forecast_log_s) return forecast_log_s.error();
    std::vector<ResidualRow> residuals;
    for (std::size_t i = 0; i < measured.size(); ++i)
        residuals.push_back({measured[i].op, std::exp((*forecast_log_s)[i]), measured_log_s[i] - (*forecast_log_s)[i]});
    return FittedGroup{*offsets, GroupResidual(residuals)};
}

}  // namespace dlcast
