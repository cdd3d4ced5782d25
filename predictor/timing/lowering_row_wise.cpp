// SPDX-License-Identifier: GPL-2.0-or-later
// Layers that move data: norms, activations, softmax, dropout, pooling, embedding, additions, loss; and recurrent
// layers.
#include <algorithm>

#include "predictor/model/shape.h"
#include "predictor/timing/lowering_detail.h"

namespace dlcast::lowering {
namespace {

struct Extent {
    std::int64_t rows, cols;
};

// [tokens, width], [width]: a row a token. [C, H, W]: a row a channel of a sample.
Extent extent(const Site& site, const Shape& shape) {
    if (shape.size() == 3) return {site.batch * shape[0], shape[1] * shape[2]};
    return {site.rows(shape), shape.back()};
}

Operator on(const Site& site, OperatorKind kind, Function function, Precision precision, const Shape& shape) {
    const Extent e = extent(site, shape);
    return row_wise(kind, function, precision, e.rows, e.cols);
}

// tanh's approximation of GELU written with eight operators, as Hugging Face's "gelu_new" runs it:
// 0.5 x (1 + tanh(c (x + 0.044715 x^3))).
void lower_gelu_of_parts(Site& site) {
    const auto part = [&](Function f) {
        return on(site, OperatorKind::elementwise, f, data_precision(site.training), site.layer.output);
    };
    put_both(site, part(Function::mul_scalar), 3.0);
    put_both(site, part(Function::pow_scalar));
    put(site.out.forward, part(Function::add));
    put_both(site, part(Function::tanh));
    put(site.out.forward, part(Function::add_scalar));
    put(site.out.forward, part(Function::mul));
    if (!site.data_gradient) return;
    put(site.out.backward, part(Function::mul), 3.0);         // two factors of the product, one of the power
    put(site.out.backward, part(Function::mul_scalar), 1.0);  // the power's exponent
}

Function function_of(const std::string& name) {
    if (name == "relu" || name == "relu6") return Function::relu;
    if (name.starts_with("gelu")) return Function::gelu;
    if (name == "tanh") return Function::tanh;
    if (name == "sigmoid") return Function::sigmoid;
    if (name == "silu" || name == "swish") return Function::silu;
    return Function::other;
}

void lower_norm(Site& site) {
    const Layer& layer = site.layer;
    const bool by_channel = layer.kind == LayerKind::batch_norm || layer.kind == LayerKind::group_norm;
    // cuDNN's batch norm takes half data under autocast; the other norms run in fp32 there and are cast back.
    const bool widened = layer.kind != LayerKind::batch_norm && site.training.precision == Precision::amp;
    const Precision precision = widened ? Precision::fp32 : data_precision(site.training);
    Operator op = on(site, by_channel ? OperatorKind::batch_norm : OperatorKind::layer_norm, Function::none, precision,
                     layer.input);
    if (by_channel && layer.input.size() == 3) {
        op.rows = site.batch * layer.input[1] * layer.input[2];
        op.cols = layer.input[0];
    }
    op.channels_last = layer.input.size() == 3 && site.training.channels_last;
    put(site.out.forward, op);
    if (widened) put_both(site, row_wise(OperatorKind::copy, Function::other, Precision::amp, op.rows, op.cols));
    if (!site.backward()) return;
    op.phase = Phase::backward;
    put(site.out.backward, op);
}

void lower_pool(Site& site) {
    const Layer& layer = site.layer;
    Operator op = on(site, OperatorKind::pooling, layer.kind == LayerKind::max_pool ? Function::none : Function::add,
                     data_precision(site.training), layer.output);
    op.batch = site.batch;
    op.in_ch = layer.input[0];
    op.in_h = layer.input[1];
    op.in_w = layer.input[2];
    op.kernel_h = layer.kernel_h;
    op.kernel_w = layer.kernel_w;
    op.stride = layer.stride;
    op.channels_last = site.training.channels_last;
    put_both(site, op);
}

void lower_embedding(Site& site) {
    Operator op = row_wise(OperatorKind::embedding, Function::none, reduction_precision(site.training),
                           site.rows(site.layer.output), site.layer.output.back());
    op.vocab = site.layer.vocab;
    put(site.out.forward, op);
    if (!site.weight_gradient) return;
    op.phase = Phase::backward;
    put(site.out.backward, op);
}

void lower_recurrent(Site& site) {
    const Layer& layer = site.layer;
    Operator op;
    op.kind = OperatorKind::recurrent;
    op.precision = product_precision(site.training);
    op.batch = site.batch;
    op.m = layer.input[0];
    op.k = layer.input.back();
    op.n = layer.output.back() / layer.groups;
    const auto directions = static_cast<double>(layer.groups);
    put(site.out.forward, op, directions);
    if (!site.backward()) return;
    op.phase = Phase::backward;
    put(site.out.backward, op, directions);
}

// Logits are summed in fp32: half ones are widened first.
void lower_loss(Site& site) {
    const Operator op = on(site, OperatorKind::loss, Function::none, Precision::fp32, site.layer.input);
    if (half_width(site.training))
        put_both(site, row_wise(OperatorKind::copy, Function::other, Precision::amp, op.rows, op.cols));
    put_both(site, op);
}

}  // namespace

void lower_activation(Site& site) {
    const std::string& name = site.layer.function;
    const Precision precision = data_precision(site.training);
    if (site.training.compile)
        return put_both(site, on(site, OperatorKind::elementwise, function_of(name), precision, site.layer.output));
    if (name == "gelu_new") return lower_gelu_of_parts(site);
    const auto part = [&](Function f) { return on(site, OperatorKind::elementwise, f, precision, site.layer.output); };
    if (name == "rope") {
        // x cos + rotated(x) sin: two products, the rotated copy and the sum.
        put_both(site, part(Function::mul_scalar), 2.0);
        put_both(site, on(site, OperatorKind::copy, Function::none, precision, site.layer.output));
        return put_both(site, part(Function::add));
    }
    if (name == "quick_gelu") {  // x sigmoid(1.702 x)
        put_both(site, part(Function::mul_scalar));
        put_both(site, part(Function::sigmoid));
        put(site.out.forward, part(Function::mul));
        if (site.data_gradient) put(site.out.backward, part(Function::mul), 2.0);
        return;
    }
    put_both(site, on(site, OperatorKind::elementwise, function_of(name), precision, site.layer.output));
}

void lower_row_wise(Site& site) {
    const Layer& layer = site.layer;
    const Precision data = data_precision(site.training);
    switch (layer.kind) {
        case LayerKind::batch_norm:
        case LayerKind::layer_norm:
        case LayerKind::rms_norm:
        case LayerKind::group_norm:
            return lower_norm(site);
        case LayerKind::max_pool:
        case LayerKind::avg_pool:
        case LayerKind::global_avg_pool:
            return lower_pool(site);
        case LayerKind::embedding:
            return lower_embedding(site);
        case LayerKind::lstm:
        case LayerKind::gru:
            return lower_recurrent(site);
        case LayerKind::loss:
            return lower_loss(site);
        case LayerKind::softmax:
            return put_both(site, on(site, OperatorKind::softmax, Function::none, reduction_precision(site.training),
                                     layer.output));
        case LayerKind::dropout:
            return put_both(site, on(site, OperatorKind::dropout, Function::none, data, layer.output));
        // A tensor that is added was forked before: backward sums two gradients there.
        case LayerKind::add:
            return put_both(site, on(site, OperatorKind::elementwise, Function::add, data, layer.output));
        case LayerKind::multiply: {
            const Operator op = on(site, OperatorKind::elementwise, Function::mul, data, layer.output);
            put(site.out.forward, op);
            Operator backward = op;
            backward.phase = Phase::backward;
            if (site.data_gradient) put(site.out.backward, backward, 2.0);  // each factor's
            return;
        }
        // Backward of a concatenation hands out views.
        case LayerKind::concat:
            return put(site.out.forward, on(site, OperatorKind::copy, Function::none, data, layer.output));
        case LayerKind::upsample:
            return put_both(site, on(site, OperatorKind::copy, Function::none, data, layer.output));
        default:
            return;  // views
    }
}

}  // namespace dlcast::lowering
