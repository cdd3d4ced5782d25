// SPDX-License-Identifier: GPL-2.0-or-later
// Inside of LibTorch backends: the moment in backward at which a weight's gradient is whole.
#pragma once

#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/torch.h>

#include <functional>
#include <memory>
#include <utility>

namespace dlcast {

// Backward adds a gradient to its place, then calls this.
class ReadyHook final : public torch::autograd::FunctionPostHook {
public:
    explicit ReadyHook(std::function<void()> ready) : ready_(std::move(ready)) {}
    torch::autograd::variable_list operator()(const torch::autograd::variable_list& outputs,
                                              const torch::autograd::variable_list&) override {
        ready_();
        return outputs;
    }

private:
    std::function<void()> ready_;
};

/// A held node of the graph: LibTorch's own pointer, which was a shared one until it became an intrusive one.
using HeldNode = decltype(torch::autograd::impl::grad_accumulator(std::declval<const torch::Tensor&>()));

/// Calls `ready` in each backward after the weight's gradient, for as long as the node that comes back is held.
inline HeldNode when_gradient_is_whole(const torch::Tensor& weight, std::function<void()> ready) {
    HeldNode node = torch::autograd::impl::grad_accumulator(weight);
    node->add_post_hook(std::make_unique<ReadyHook>(std::move(ready)));
    return node;
}

}  // namespace dlcast
