// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/stage_parameters.h"

#include <algorithm>
#include <cmath>

namespace dlcast {
namespace {

bool is_product(const Layer& layer) { return layer.kind == LayerKind::linear || layer.kind == LayerKind::conv2d; }

// Parameters by where they stand: before the repeated blocks, in them, behind them.
struct Parts {
    double before = 0.0, inside = 0.0, behind = 0.0, largest_block = 0.0;
    int blocks = 0;
    double whole() const { return before + inside + behind; }
    double of_stage(int stages) const {
        if (stages == 1 || blocks == 0) return whole() / stages;
        const double share = std::max(1.0, std::ceil(1.0 * blocks / stages)) / blocks;
        return share * inside + std::max(before, behind);
    }
};

template <typename Use>
Parts parts_of(const ModelSpec& model, const Layout& layout, Use use) {
    Parts out;
    int block = -1;  // of the layer before: the layers of a block stand together
    double of_block = 0;
    for (const Layer& layer : model.layers) {
        if (layer.block >= 0 && layer.block != block) {
            ++out.blocks;
            of_block = 0;
        }
        block = layer.block;
        if (!use(layer)) continue;
        const double p = static_cast<double>(layer.parameters) / layout.tp / (layer.experts > 0 ? layout.ep : 1);
        if (block < 0) {
            (out.blocks == 0 ? out.before : out.behind) += p;
            continue;
        }
        out.inside += p;
        of_block += p;
        out.largest_block = std::max(out.largest_block, of_block);
    }
    return out;
}

}  // namespace

StageParameters stage_parameters(const ModelSpec& model, const Layout& layout) {
    const Parts all = parts_of(model, layout, [](const Layer&) { return true; });
    const Parts trained = parts_of(model, layout, [](const Layer& layer) { return layer.trainable; });
    const Parts products =
        parts_of(model, layout, [](const Layer& layer) { return layer.trainable && is_product(layer); });
    StageParameters out;
    out.all = all.of_stage(layout.pp);
    out.trained = trained.of_stage(layout.pp);
    out.trained_products = products.of_stage(layout.pp);
    out.largest_block = all.blocks == 0 ? out.all : all.largest_block;
    if (all.blocks > 0)
        out.outside_blocks = layout.pp == 1 ? all.before + all.behind : std::max(all.before, all.behind);
    return out;
}

}  // namespace dlcast
