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

void divide_over_tensor_ranks(Operator& op, int tp, bool sequence_parallel) {
    switch (op.kind) {
        case OperatorKind::linear: {
            std::int64_t& wider = op.k > op.n ? op.k : op.n;
            wider = part(wider, tp);
            break;
        }
        case OperatorKind::bmm:
        case OperatorKind::attention:
            op.batch = part(op.batch, tp);
            break;
        case OperatorKind::softmax:
            op.rows = part(op.rows, tp);
            break;
        case OperatorKind::loss:
            op.cols = part(op.cols, tp);
            break;
        case OperatorKind::embedding:
            op.vocab = part(op.vocab, tp);
            break;
        case OperatorKind::conv2d:
            op.out_ch = part(op.out_ch, tp);
            break;
        case OperatorKind::recurrent:
            op.n = part(op.n, tp);
            break;
        default:
            if (sequence_parallel || is_activation_function(op.function)) op.rows = part(op.rows, tp);
    }
}

void divide_over_context_ranks(Operator& op, int cp) {
    op.m = part(op.m, cp);
    op.rows = part(op.rows, cp);
}

}  // namespace

Operator shard(Operator op, const Layout& layout) {
    if (layout.tp > 1) divide_over_tensor_ranks(op, layout.tp, layout.sequence_parallel);
    if (layout.cp > 1) divide_over_context_ranks(op, layout.cp);
    return op;
}

Operator shard_update(Operator op, const Layout& layout) {
    const std::int64_t model_ranks = std::int64_t{layout.tp} * layout.pp;
    op.rows = part(op.rows, op.kind == OperatorKind::optimizer ? model_ranks * layout.optimizer_shards : model_ranks);
    return op;
}

}  // namespace dlcast
