// SPDX-License-Identifier: GPL-2.0-or-later
// The model that needs no network: a roofline with one typical efficiency an operator kind.
#include <cmath>

#include "predictor/timing/layer_time_model.h"
#include "predictor/timing/physics.h"

namespace dlcast {
namespace {

// Fractions of the sustained arithmetic rate and of the bandwidth that mid-sized calls reach, and the spread (standard
// deviation of log time) around them. Medians over public operator times on eight GPU types.
struct Typical {
    double compute = 0.5;
    double memory = 0.75;
    double log_sd = 0.35;
};

Typical typical(const Operator& op) {
    switch (op.kind) {
        case OperatorKind::conv2d:
            return {op.groups > 1 ? 0.25 : 0.60, op.groups > 1 ? 0.40 : 0.60, 0.50};
        case OperatorKind::linear:
            return {0.72, 0.65, 0.30};
        case OperatorKind::bmm:
            return {0.60, 0.60, 0.35};
        case OperatorKind::attention:
            return {0.50, 0.60, 0.40};
        case OperatorKind::recurrent:
            return {0.35, 0.50, 0.50};
        case OperatorKind::embedding:
            return {0.5, 0.55, 0.40};
        case OperatorKind::loss:
            return {0.5, 0.60, 0.40};
        case OperatorKind::softmax:
        case OperatorKind::layer_norm:
        case OperatorKind::batch_norm:
        case OperatorKind::pooling:
            return {0.5, 0.70, 0.30};
        case OperatorKind::optimizer:
            return {0.5, 0.85, 0.20};
        case OperatorKind::elementwise:
        case OperatorKind::dropout:
        case OperatorKind::copy:
            return {0.5, 0.78, 0.20};
    }
    return {};
}

// Between kernels of one stream; what a host adds belongs to the step, not to the operator.
constexpr double launch_s = 4e-6;

class AnalyticModel final : public LayerTimeModel {
public:
    Result<std::vector<OperatorTime>> times(std::span<const OperatorQuery> queries) const override {
        std::vector<OperatorTime> out;
        out.reserve(queries.size());
        for (const OperatorQuery& query : queries) {
            const Typical usual = typical(*query.op);
            const Bounds ideal = bounds(*query.device, *query.op);
            const GroupOffsets own = query.offsets == nullptr ? GroupOffsets{} : *query.offsets;
            const double busy_s = smooth_maximum(ideal.compute_s / usual.compute * std::exp(own.compute),
                                                 ideal.memory_s / usual.memory * std::exp(own.memory), 3.0);
            if (!std::isfinite(busy_s)) {
                return invalid_argument("GPU '" + query.device->name +
                                        "' states no arithmetic rate or no bandwidth; add them to gpus.toml");
            }
            out.push_back({launch_s * std::exp(own.launch) + busy_s, usual.log_sd, {.analytic = true}});
        }
        return out;
    }
    std::string by() const override { return "analytic"; }
    std::string weights_id() const override { return ""; }
};

}  // namespace

std::unique_ptr<LayerTimeModel> make_analytic_model() { return std::make_unique<AnalyticModel>(); }

}  // namespace dlcast
