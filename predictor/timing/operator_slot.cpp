// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/timing/operator_slot.h"

namespace dlcast {
namespace {

OperatorSlot elementwise_slot(Function f) {
    switch (f) {
        case Function::add:
        case Function::none:
        case Function::other:
            return OperatorSlot::add;
        case Function::mul:
            return OperatorSlot::mul;
        case Function::div:
            return OperatorSlot::div;
        case Function::pow:
            return OperatorSlot::pow;
        case Function::add_scalar:
            return OperatorSlot::add_scalar;
        case Function::mul_scalar:
            return OperatorSlot::mul_scalar;
        case Function::div_scalar:
            return OperatorSlot::div_scalar;
        case Function::pow_scalar:
            return OperatorSlot::pow_scalar;
        case Function::relu:
            return OperatorSlot::relu;
        case Function::gelu:
            return OperatorSlot::gelu;
        case Function::tanh:
        case Function::sigmoid:
        case Function::silu:
            return OperatorSlot::tanh;
    }
    return OperatorSlot::add;
}

}  // namespace

OperatorSlot operator_slot(const Operator& op) {
    switch (op.kind) {
        case OperatorKind::conv2d:
            return OperatorSlot::conv2d;
        case OperatorKind::linear:
            return OperatorSlot::linear;
        case OperatorKind::bmm:
            return OperatorSlot::bmm;
        case OperatorKind::softmax:
        case OperatorKind::loss:
            return OperatorSlot::softmax;
        case OperatorKind::layer_norm:
            return OperatorSlot::layer_norm;
        case OperatorKind::embedding:
            return OperatorSlot::embedding;
        case OperatorKind::dropout:
            return OperatorSlot::dropout;
        case OperatorKind::elementwise:
            return elementwise_slot(op.function);
        default:
            return op.kind == OperatorKind::copy ? OperatorSlot::mul_scalar : OperatorSlot::add;
    }
}

}  // namespace dlcast
