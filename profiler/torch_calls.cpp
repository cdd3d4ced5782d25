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

TorchCall call_of(const std::vector<Tensor>& fresh, std::function<std::vector<Tensor>()> work) {
    TorchCall out;
    for (const Tensor& t : fresh) out.fresh.push_back(t.detach());
    out.work = std::move(work);
    return out;
}

TorchCall forward_call(TorchForward forward) {
    for (Tensor& input : forward.inputs) input.set_requires_grad(true);
    return call_of({forward.inputs.front()}, [forward] { return std::vector<Tensor>{forward.run(forward.inputs)}; });
}

TorchCall backward_call(const Operator& op, TorchForward forward) {
    const std::vector<Tensor> inputs = wanted(op, forward.inputs);
    for (Tensor input : inputs) input.set_requires_grad(true);
    const Tensor result = forward.run(forward.inputs);
    const Tensor gradient = torch::rand_like(result);
    return call_of({gradient},
                   [=] { return torch::autograd::grad({result}, inputs, {gradient}, /*retain_graph=*/true); });
}

// A product's gradients are products of their own sizes; the gradient of the result is the first factor.
TorchCall product_gradient_call(const TorchMaker& make) {
    const Operator& op = make.op;
    if (op.kind == OperatorKind::bmm) {
        const Tensor a = make.values({op.batch, op.m, op.k}), b = make.values({op.batch, op.k, op.n});
        return call_of({a}, [=] { return std::vector<Tensor>{torch::bmm(a, b)}; });
    }
    const bool weight = op.phase == Phase::backward_weight;
    const Tensor a = weight ? make.values({op.k, op.m}).t() : make.values({op.m, op.k});
    const Tensor b = make.values({op.k, op.n});
    return call_of({a}, [=, bias = op.bias] {
        std::vector<Tensor> out{torch::mm(a, b)};
        if (bias) out.push_back(a.sum(1));
        return out;
    });
}

Result<TorchCall> update_call(const TorchMaker& make) {
    const Operator& op = make.op;
    Tensor weight = make.rows_cols().set_requires_grad(true);
    weight.mutable_grad() = torch::rand_like(weight);
    auto optimizer = make_torch_optimizer({weight}, op.optimizer);
    if (!optimizer) return optimizer.error();
    return call_of({}, [o = *optimizer, weight] {
        o->step();
        weight.grad().zero_();
        return std::vector<Tensor>{};
    });
}

// The sum of two gradients, the product of a gradient and a factor.
bool is_its_own_backward(const Operator& op) {
    if (op.kind == OperatorKind::copy) return true;
    return op.kind == OperatorKind::elementwise && (op.function == Function::add || op.function == Function::mul);
}

Result<TorchCall> call_in_phase(const Operator& op, torch::Device device) {
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
        return call_of({forward->inputs.front()}, [f = *forward] { return std::vector<Tensor>{f.run(f.inputs)}; });
    }
    return backward_call(op, std::move(*forward));
}

}  // namespace

Result<TorchCall> make_torch_call(const Operator& op, torch::Device device) {
    auto call = call_in_phase(op, device);
    if (call) call->keeps_results = op.phase == Phase::forward;
    return call;
}

}  // namespace dlcast
