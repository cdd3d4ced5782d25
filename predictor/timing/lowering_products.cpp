// SPDX-License-Identifier: GPL-2.0-or-later
// Layers that are matrix products: convolutions, linear layers, attention.
#include <algorithm>

#include "predictor/timing/lowering_detail.h"

namespace dlcast::lowering {
namespace {

std::int64_t up(std::int64_t whole, std::int64_t parts) {
    return std::max<std::int64_t>(1, (whole + parts - 1) / parts);
}

Operator cast(Precision precision, std::int64_t rows, std::int64_t cols) {
    return row_wise(OperatorKind::copy, Function::other, precision, rows, cols);
}

Operator product(OperatorKind kind, Phase phase, Precision precision, std::int64_t batch, std::int64_t m,
                 std::int64_t k, std::int64_t n) {
    Operator op;
    op.kind = kind;
    op.phase = phase;
    op.precision = precision;
    op.batch = batch;
    op.m = m;
    op.k = k;
    op.n = n;
    return op;
}

// Autocast keeps weights in fp32: a half copy for every forward, the gradient widened after every backward.
void put_weight_casts(Site& site, std::int64_t parameters) {
    if (site.training.precision != Precision::amp || parameters == 0) return;
    put(site.out.forward, cast(Precision::amp, 1, parameters));
    if (site.weight_gradient) put(site.out.backward, cast(Precision::amp, 1, parameters));
}

}  // namespace

void lower_convolution(Site& site) {
    const Layer& layer = site.layer;
    const bool transposed =
        layer.function == "transposed";  // the data gradient of the convolution that goes the other way
    const Shape& in = transposed ? layer.output : layer.input;
    const Shape& out = transposed ? layer.input : layer.output;
    Operator op;
    op.kind = OperatorKind::conv2d;
    op.precision = product_precision(site.training);
    op.batch = site.batch;
    op.in_ch = in[0];
    op.in_h = in[1];
    op.in_w = in[2];
    op.out_ch = out[0];
    op.out_h = out[1];
    op.out_w = out[2];
    op.kernel_h = layer.kernel_h;
    op.kernel_w = layer.kernel_w;
    op.stride = layer.stride;
    op.groups = layer.groups;
    op.bias = layer.bias;
    op.channels_last = site.training.channels_last;
    put_weight_casts(site, static_cast<std::int64_t>(layer.parameters));
    // Tensor units read channels last: NCHW tensors are turned before and after.
    const bool turned = !op.channels_last && op.precision != Precision::fp32 && op.groups == 1;
    const auto put_turns = [&](std::vector<OperatorUse>& list) {
        if (!turned) return;
        for (const Shape* shape : {&in, &out})
            put(list, row_wise(OperatorKind::copy, Function::none, data_precision(site.training),
                               site.batch * (*shape)[0], (*shape)[1] * (*shape)[2]));
    };
    put_turns(site.out.forward);
    put(site.out.forward, op);
    for (const Phase phase : {Phase::backward_data, Phase::backward_weight}) {
        if (phase == Phase::backward_data ? !site.data_gradient : !site.weight_gradient) continue;
        op.phase = phase;
        op.bias = layer.bias && phase == Phase::backward_weight;
        put_turns(site.out.backward);
        put(site.out.backward, op);
    }
}

void lower_linear(Site& site) {
    const Layer& layer = site.layer;
    const Training& t = site.training;
    const Precision precision = t.precision;
    const std::int64_t k = layer.input.back(), n = layer.output.back();
    std::int64_t m = site.rows(layer.input);
    double count = 1.0;
    if (layer.experts > 0) {
        // Tokens are taken to spread evenly over the experts.
        m = up(m, layer.experts);
        count = static_cast<double>(layer.experts);
    }
    if (layer.parameters > 0 || layer.tied) put_weight_casts(site, k * n * static_cast<std::int64_t>(count));
    if (t.precision == Precision::fp8) put(site.out.forward, cast(Precision::fp8, m, k), count);
    Operator op = product(OperatorKind::linear, Phase::forward, precision, 1, m, k, n);
    op.bias = layer.bias;
    put(site.out.forward, op, count);
    if (t.precision == Precision::fp8 && site.backward()) put(site.out.backward, cast(Precision::fp8, m, n), count);
    if (site.data_gradient)
        put(site.out.backward, product(OperatorKind::linear, Phase::backward_data, precision, 1, m, n, k), count);
    if (site.weight_gradient) {
        Operator weight = product(OperatorKind::linear, Phase::backward_weight, precision, 1, n, m, k);
        weight.bias = layer.bias;
        put(site.out.backward, weight, count);
    }
}

// Eager attention: scores, scale, mask, softmax, dropout, weighted sum, and the copy that joins the heads again.
// Layer::function: "scaled_query" scales the queries instead of the scores; "unmasked" has no mask; "relative" adds a
// second product with the positions and shifts it (Dai et al., arXiv:1901.02860).
void lower_attention(Site& site) {
    const Layer& layer = site.layer;
    const Training& t = site.training;
    const Precision precision = data_precision(t);
    const Precision matrix = product_precision(t);
    const std::int64_t heads = layer.heads, d = layer.head_dim;
    const std::int64_t queries = layer.input[0];
    const std::int64_t keys = layer.kv_tokens > 0 ? layer.kv_tokens : layer.input[0];
    const std::int64_t batch = site.batch * heads;
    auto& forward = site.out.forward;
    auto& backward = site.out.backward;
    if (layer.fused) {
        const std::int64_t seen = layer.causal ? up(keys, 2) : keys;
        return put_both(site, product(OperatorKind::attention, Phase::forward, matrix, batch, queries, d, seen));
    }
    const auto bmm = [&](std::vector<OperatorUse>& list, Phase phase, std::int64_t m, std::int64_t k, std::int64_t n) {
        put(list, product(OperatorKind::bmm, phase, matrix, batch, m, k, n));
    };
    const auto on_scores = [&](OperatorKind kind, Function function, Precision p) {
        return row_wise(kind, function, p, batch * queries, keys);
    };
    const bool relative = layer.function == "relative";
    if (layer.function == "scaled_query")
        put_both(site,
                 row_wise(OperatorKind::elementwise, Function::mul_scalar, precision, site.batch * queries, heads * d));
    else
        put_both(site, on_scores(OperatorKind::elementwise, Function::div_scalar, precision));
    bmm(forward, Phase::forward, queries, d, keys);
    if (relative) {
        bmm(forward, Phase::forward, queries, d, keys);
        put_both(site, on_scores(OperatorKind::copy, Function::none, precision));
        put(forward, on_scores(OperatorKind::elementwise, Function::add, precision));
    }
    if (layer.function != "unmasked") put(forward, on_scores(OperatorKind::elementwise, Function::add, precision));
    put_both(site, on_scores(OperatorKind::softmax, Function::none, reduction_precision(t)));
    if (t.precision == Precision::amp) put_both(site, on_scores(OperatorKind::copy, Function::other, Precision::amp));
    if (layer.dropout && !t.forward_only)
        put_both(site, on_scores(OperatorKind::dropout, Function::none, reduction_precision(t)));
    bmm(forward, Phase::forward, queries, keys, d);
    // Scaled queries are laid out head by head before the products, keys and values too.
    const double copies = layer.function == "scaled_query" ? 3.0 : 1.0;
    put_both(site, row_wise(OperatorKind::copy, Function::none, precision, site.batch * queries, heads * d), copies);
    if (!site.data_gradient) return;
    for (int products = relative ? 2 : 1; products > 0; --products) {
        bmm(backward, Phase::backward_data, queries, keys, d);  // of the queries
        bmm(backward, Phase::backward_data, d, queries, keys);  // of the keys
    }
    bmm(backward, Phase::backward_data, queries, d, keys);  // of the probabilities
    bmm(backward, Phase::backward_data, keys, queries, d);  // of the values
}

}  // namespace dlcast::lowering
