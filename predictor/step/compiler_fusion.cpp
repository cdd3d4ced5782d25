// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/compiler_fusion.h"

#include "predictor/step/software_kind.h"

namespace dlcast {
namespace {

bool is_row_wise(LayerKind kind) {
    switch (kind) {
        case LayerKind::batch_norm:
        case LayerKind::layer_norm:
        case LayerKind::rms_norm:
        case LayerKind::group_norm:
        case LayerKind::activation:
        case LayerKind::dropout:
        case LayerKind::add:
        case LayerKind::multiply:
            return true;
        default:
            return false;
    }
}

}  // namespace

std::vector<bool> fused_away(const Workload& workload) {
    if (software_kind(workload.model, workload.training).fusion != Fusion::by_compiler) return {};
    const auto& layers = workload.model.layers;
    std::vector<bool> out(layers.size(), false);
    for (std::size_t i = 1; i < layers.size(); ++i) {
        const bool pointwise = is_row_wise(layers[i].kind) && layers[i].parameters == 0;
        out[i] = pointwise && is_row_wise(layers[i - 1].kind) && layers[i - 1].output == layers[i].input;
    }
    return out;
}

}  // namespace dlcast
