// SPDX-License-Identifier: GPL-2.0-or-later
// The phases of an operator: what runs in each of them.
#include <memory>

#include "profiler/torch_functions.h"
#include "profiler/torch_operators.h"

namespace dlcast {
namespace {

using torch::Tensor;

// What each backward phase owes: the gradients of these inputs.
std::vector<Tensor> wanted(const Operator& op, const std::vector<Tensor>& inputs) {
    if (op.phase == Phase::backward_data) return {inputs.front()};
    if (op.phase == Phase::backward_weight) return {inputs.begin() + 1, inputs.end()};
    return inputs;
}

TorchCall forward_call(TorchForward forward) {
    for (Tensor& input : forward.inputs) input.set_requires_grad(true);
    auto kept = std::make_shared<Tensor>();
    return {[kept] { kept->reset(); }, [kept, forward] { *kept = forward.run(forward.inputs); }};
}

TorchCall backward_call(const Operator& op, TorchForward forward) {
    const std::vector<Tensor> inputs = wanted(op, forward.inputs);
    for (Tensor input : inputs) input.set_requires_grad(true);
    const Tensor result = forward.run(forward.inputs);
    const Tensor gradient = torch::rand_like(result);
    auto kept = std::make_shared<std::vector<Tensor>>();
    return {[kept] { kept->clear(); },
            [=] { *kept = torch::autograd::grad({result}, inputs, {gradient}, /*retain_graph=*/true); }};
}

// A product's gradients are products of their own sizes.
TorchCall product_gradient_call(const TorchMaker& make) {
    const Operator& op = make.op;
    auto kept = std::make_shared<std::vector<Tensor>>();
    const auto prepare = [kept] { kept->clear(); };
    if (op.kind == OperatorKind::bmm) {
        const Tensor a = make.values({op.batch, op.m, op.k}), b = make.values({op.batch, op.k, op.n});
        return {prepare, [=] { *kept = {torch::bmm(a, b)}; }};
    }
    const bool weight = op.phase == Phase::backward_weight;
    const Tensor a = weight ? make.values({op.k, op.m}).t() : make.values({op.m, op.k});
    const Tensor b = make.values({op.k, op.n});
    return {prepare, [=, bias = op.bias] {
                *kept = {torch::mm(a, b)};
                if (bias) kept->push_back(a.sum(1));
            }};
}

Result<TorchCall> update_call(const TorchMaker& make) {
    const Operator& op = make.op;
    Tensor weight = make.rows_cols().set_requires_grad(true);
    weight.mutable_grad() = torch::rand_like(weight);
    auto optimizer = make_torch_optimizer({weight}, op.optimizer);
    if (!optimizer) return optimizer.error();
    return TorchCall{[] {},
                     [o = *optimizer, weight] {
                         o->step();
                         weight.grad().zero_();
                     }};
}

// The sum of two gradients, the product of a gradient and a factor.
bool is_its_own_backward(const Operator& op) {
    if (op.kind == OperatorKind::copy) return true;
    return op.kind == OperatorKind::elementwise && (op.function == Function::add || op.function == Function::mul);
}

}  // namespace

Result<TorchCall> make_torch_call(const Operator& op, torch::Device device) {
    const auto type = torch_type(op.precision, device);
    if (!type) return type.error();
    const TorchMaker make{op, torch::TensorOptions().dtype(*type).device(device)};
    if (op.phase == Phase::train_step)
        return unavailable("train_step is a measurement of another tool; measure its phases");
    if (op.kind == OperatorKind::optimizer) return update_call(make);
    const bool product = op.kind == OperatorKind::linear || op.kind == OperatorKind::bmm;
    if (product && (op.phase == Phase::backward_data || op.phase == Phase::backward_weight))
        return product_gradient_call(make);
    auto forward = make.forward();
    if (!forward) return forward.error();
    if (op.phase == Phase::forward) return forward_call(std::move(*forward));
    if (is_its_own_backward(op)) {
        for (Tensor& input : forward->inputs) input = input.detach();
        auto kept = std::make_shared<Tensor>();
        return TorchCall{[kept] { kept->reset(); }, [kept, f = *forward] { *kept = f.run(f.inputs); }};
    }
    return backward_call(op, std::move(*forward));
}

}  // namespace dlcast
