// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/sharding.h"

#include <algorithm>

namespace dlcast {
namespace {

std::int64_t part(std::int64_t size, std::int64_t ways) {
    return size > 0 ? std::max<std::int64_t>(1, (size + ways - 1) / ways) : size;
}

bool is_activation_function(Function function) {
    return function == Function::relu || function == Function::gelu || function == Function::tanh ||
           function == Function::sigmoid || function == Function::silu;
}

void divide_wider(std::int64_t& a, std::int64_t& b, int ways) {
    std::int64_t& wider = a > b ? a : b;
    wider = part(wider, ways);
}

// The gradient of a weight is a product whose inner size is the tokens; elsewhere the rows are.
std::int64_t& tokens_of(Operator& op) { return op.phase == Phase::backward_weight ? op.k : op.m; }

void divide_over_tensor_ranks(Operator& op, const Layout& layout) {
    const int tp = layout.tp;
    switch (op.kind) {
        case OperatorKind::linear:
            return divide_wider(op.phase == Phase::backward_weight ? op.m : op.k, op.n, tp);
        case OperatorKind::bmm:
        case OperatorKind::attention:
            op.batch = part(op.batch, tp);
            return;
        case OperatorKind::conv2d:
            op.out_ch = part(op.out_ch, tp);
            return;
        case OperatorKind::recurrent:
            op.n = part(op.n, tp);
            return;
        case OperatorKind::softmax:
            op.rows = part(op.rows, tp);
            return;
        case OperatorKind::loss:
            op.cols = part(op.cols, tp);
            return;
        case OperatorKind::embedding:
            op.vocab = part(op.vocab, tp);
            return;
        default:
            break;
    }
    const bool of_weight = op.rows == 1;  // casts of a weight or its gradient
    if (of_weight)
        op.cols = part(op.cols, tp);
    else if (layout.sequence_parallel || is_activation_function(op.function))
        op.rows = part(op.rows, tp);
}

void divide_over_context_ranks(Operator& op, int cp) {
    switch (op.kind) {
        case OperatorKind::linear:
        case OperatorKind::recurrent:
            tokens_of(op) = part(tokens_of(op), cp);
            return;
        // Each rank has its part of the queries against all keys: so much less work, whatever side of a product they
        // stand on.
        case OperatorKind::bmm:
        case OperatorKind::attention:
            op.batch = part(op.batch, cp);
            return;
        default:
            op.rows = part(op.rows, cp);
    }
}

}  // namespace

Operator shard(Operator op, const Layout& layout) {
    if (layout.tp > 1) divide_over_tensor_ranks(op, layout);
    if (layout.cp > 1) divide_over_context_ranks(op, layout.cp);
    return op;
}

Operator shard_update(Operator op, const Layout& layout) {
    const std::int64_t model_ranks = std::int64_t{layout.tp} * layout.pp;
    op.rows = part(op.rows, op.kind == OperatorKind::optimizer ? model_ranks * layout.optimizer_shards : model_ranks);
    return op;
}

}  // namespace dlcast
