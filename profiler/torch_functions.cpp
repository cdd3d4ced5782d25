// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/torch_functions.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <fmt/format.h>

#include <cmath>

namespace dlcast {

using torch::Tensor;

Tensor torch_function(Function function, const Tensor& x) {
    switch (function) {
        case Function::add_scalar:
            return x + 0.5;
        case Function::mul_scalar:
            return x * 0.5;
        case Function::div_scalar:
            return x / 2.0;
        case Function::pow_scalar:
            return torch::pow(x, 3.0);
        case Function::relu:
            return torch::relu(x);
        case Function::gelu:
            return torch::gelu(x);
        case Function::tanh:
            return torch::tanh(x);
        case Function::sigmoid:
            return torch::sigmoid(x);
        case Function::silu:
            return torch::silu(x);
        default:
            return torch::elu(x);
    }
}

namespace {

const c10::optional<c10::OperatorHandle>& fused_attention() {
    static const auto found = c10::Dispatcher::singleton().findSchema({"aten::scaled_dot_product_attention", ""});
    return found;
}

}  // namespace

bool torch_fuses_attention(torch::Device device) {
    // On a CPU early releases of the call still make the scores; those with a kernel for it have this operator.
    return fused_attention() && (!device.is_cpu() || c10::Dispatcher::singleton().findSchema(
                                                         {"aten::_scaled_dot_product_flash_attention_for_cpu", ""}));
}

Tensor torch_attention(const Tensor& q, const Tensor& k, const Tensor& v) {
    const auto& fused = fused_attention();
    if (!fused) {
        const double scale = 1.0 / std::sqrt(static_cast<double>(q.size(-1)));
        return torch::bmm(torch::softmax(torch::bmm(q * scale, k.transpose(1, 2)), -1), v);
    }
    // Arguments behind the three tensors grew from release to release; all have defaults.
    c10::Stack stack{q.unsqueeze(0), k.unsqueeze(0), v.unsqueeze(0)};
    const auto& arguments = fused->schema().arguments();
    for (std::size_t i = stack.size(); i < arguments.size(); ++i) stack.push_back(arguments[i].default_value().value());
    fused->callBoxed(&stack);
    return stack.front().toTensor().squeeze(0);
}

Result<torch::ScalarType> torch_type(Precision precision, torch::Device device) {
    switch (precision) {
        case Precision::fp32:
            return torch::kFloat;
        case Precision::bf16:
            return torch::kBFloat16;
        case Precision::tf32:
            if (device.is_cuda()) return torch::kFloat;
            break;
        case Precision::amp:
        case Precision::fp16:
            if (device.is_cuda()) return torch::kHalf;
            break;
        case Precision::fp8:
            break;
    }
    return unavailable(fmt::format("LibTorch does not compute in {} on this {}; measure fp32{}", to_string(precision),
                                   device.is_cuda() ? "GPU" : "CPU",
                                   device.is_cuda() ? ", tf32, amp, fp16 or bf16" : " or bf16"));
}

Result<std::shared_ptr<torch::optim::Optimizer>> make_torch_optimizer(std::vector<Tensor> weights,
                                                                      Optimizer optimizer) {
    using Made = std::shared_ptr<torch::optim::Optimizer>;
    switch (optimizer) {
        case Optimizer::sgd:
            return Made(std::make_shared<torch::optim::SGD>(std::move(weights), torch::optim::SGDOptions(1e-4)));
        case Optimizer::momentum:
            return Made(
                std::make_shared<torch::optim::SGD>(std::move(weights), torch::optim::SGDOptions(1e-4).momentum(0.9)));
        case Optimizer::adam:
            return Made(std::make_shared<torch::optim::Adam>(std::move(weights), torch::optim::AdamOptions(1e-4)));
        case Optimizer::adamw:
            return Made(std::make_shared<torch::optim::AdamW>(std::move(weights), torch::optim::AdamWOptions(1e-4)));
        case Optimizer::adagrad:
            return Made(
                std::make_shared<torch::optim::Adagrad>(std::move(weights), torch::optim::AdagradOptions(1e-4)));
        case Optimizer::rmsprop:
            return Made(std::make_shared<torch::optim::RMSprop>(std::move(weights),
                                                                torch::optim::RMSpropOptions(1e-4).momentum(0.9)));
        default:
            return unavailable(
                fmt::format("LibTorch's C++ library has no {}; measure sgd, momentum, adam, adamw, adagrad or rmsprop",
                            to_string(optimizer)));
    }
}

}  // namespace dlcast
