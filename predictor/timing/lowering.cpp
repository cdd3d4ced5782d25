// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/timing/lowering.h"

#include <algorithm>

#include "predictor/timing/lowering_detail.h"

namespace dlcast {
namespace lowering {

Precision product_precision(const Training& training) {
    return training.precision == Precision::fp8 ? Precision::bf16 : training.precision;
}

Precision data_precision(const Training& training) {
    if (training.precision == Precision::tf32) return Precision::fp32;
    return training.precision == Precision::fp8 ? Precision::bf16 : training.precision;
}

Precision reduction_precision(const Training& training) {
    return training.precision == Precision::amp ? Precision::fp32 : data_precision(training);
}

bool half_width(const Training& training) { return element_bytes(training.precision) < 4.0; }

Operator row_wise(OperatorKind kind, Function function, Precision precision, std::int64_t rows, std::int64_t cols) {
    Operator op;
    op.kind = kind;
    op.function = function;
    op.precision = precision;
    op.rows = rows;
    op.cols = cols;
    return op;
}

void put(std::vector<OperatorUse>& list, Operator op, double count) { list.push_back({op, count}); }

void put_both(Site& site, const Operator& op, double count) {
    put(site.out.forward, op, count);
    if (!site.data_gradient) return;
    Operator backward = op;
    backward.phase = Phase::backward;
    put(site.out.backward, backward, count);
}

namespace {

void dispatch(Site& site) {
    switch (site.layer.kind) {
        case LayerKind::conv2d:
            return lower_convolution(site);
        case LayerKind::linear:
            return lower_linear(site);
        case LayerKind::attention:
            return lower_attention(site);
        case LayerKind::activation:
            return lower_activation(site);
        default:
            return lower_row_wise(site);
    }
}

bool trains(const Layer& layer) { return layer.trainable && layer.parameters > 0; }

}  // namespace
}  // namespace lowering

std::size_t first_trained_layer(const ModelSpec& model) {
    return static_cast<std::size_t>(std::find_if(model.layers.begin(), model.layers.end(), lowering::trains) -
                                    model.layers.begin());
}

LayerOperators lower_layer(const Layer& layer, const Training& training, std::int64_t batch, bool after_trained) {
    LayerOperators out;
    const bool unused = training.forward_only && (layer.kind == LayerKind::dropout || layer.kind == LayerKind::loss);
    if (unused) return out;
    const bool backward = !training.forward_only;
    // A tied weight holds no parameters of its own, and still has a gradient.
    const bool weight = backward && layer.trainable && (layer.parameters > 0 || layer.tied);
    lowering::Site site{layer, training, batch, backward && after_trained && layer.input_grad, weight, out};
    lowering::dispatch(site);
    return out;
}

std::vector<LayerOperators> lower(const ModelSpec& model, const Training& training, std::int64_t batch) {
    const std::size_t first = first_trained_layer(model);
    std::vector<LayerOperators> out;
    out.reserve(model.layers.size());
    for (std::size_t i = 0; i < model.layers.size(); ++i)
        out.push_back(lower_layer(model.layers[i], training, batch, i > first));
    return out;
}

std::vector<OperatorUse> lower_update(const ModelSpec& model, const Training& training) {
    const auto parameters = static_cast<std::int64_t>(model.trainable_parameters);
    if (parameters == 0 || training.optimizer == Optimizer::none || training.forward_only) return {};
    // Half-precision training keeps fp32 master weights; autocast keeps the weights themselves in fp32.
    const bool master = training.precision == Precision::fp16;
    Operator op = lowering::row_wise(OperatorKind::optimizer, Function::none,
                                     master ? Precision::fp16 : Precision::fp32, parameters, 1);
    op.phase = Phase::update;
    op.optimizer = training.optimizer;
    return {{op, 1.0}};
}

}  // namespace dlcast
