// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/torch_network.h"

#include <fmt/format.h>

#include <algorithm>

#include "predictor/base/text.h"
#include "profiler/torch_functions.h"

namespace dlcast {
namespace {

using torch::Tensor;

}  // namespace

/// Decides once which value each layer reads.
class TorchWiring {
public:
    TorchWiring(const ModelSpec& model, std::int64_t batch, TorchNetwork& net)
        : model_(model), batch_(batch), net_(net) {}

    Status wire() {
        for (std::size_t i = 0; i < model_.layers.size(); ++i) {
            const Layer& layer = model_.layers[i];
            auto run = make_torch_layer(layer, batch_, net_.weights_);
            if (!run) return run.error();
            net_.steps_.push_back({std::move(*run), inputs_of(i), {}});
        }
        number_values();
        return ok();
    }

private:
    static constexpr std::size_t none = static_cast<std::size_t>(-1);
    // Until all constants are known, constant i has the number `constant_base` + i.
    static constexpr std::size_t constant_base = std::size_t{1} << 40;

    const Shape& shape_of(std::size_t step) const { return model_.layers[step].output; }

    std::size_t latest(std::size_t before, const Shape& shape, std::size_t except) const {
        for (std::size_t i = before; i-- > 0;)
            if (i != except && model_.layers[i].kind != LayerKind::loss && shape_of(i) == shape) return i;
        return none;
    }

    std::size_t constant(const Layer& layer, const Shape& shape, bool first) {
        Tensor value;
        if (layer.kind == LayerKind::embedding)
            value = torch::randint(layer.vocab, with_batch(batch_, shape), net_.weights_.data.dtype(torch::kLong));
        else
            value = torch::rand(with_batch(batch_, shape), net_.weights_.data.dtype(torch::kFloat))
                        .to(net_.weights_.data.dtype())
                        .set_requires_grad(!first && layer.input_grad);
        net_.values_.push_back(value);
        return constant_base + net_.values_.size() - 1;
    }

    std::size_t main_input(std::size_t i) {
        const Layer& layer = model_.layers[i];
        if (layer.kind == LayerKind::embedding || i == 0) return constant(layer, layer.input, i == 0);
        const std::size_t found = latest(i, layer.input, none);
        return found == none ? constant(layer, layer.input, false) : found;
    }

    // A gate with one value a channel is the value before; any other factor or summand has the layer's own shape.
    std::size_t second_input(std::size_t i, std::size_t first) const {
        const Layer& layer = model_.layers[i];
        const Shape& before = shape_of(i - 1);
        if (layer.kind == LayerKind::multiply && before.size() == 3 && before[0] == layer.input[0] &&
            before[1] * before[2] == 1)
            return i - 1;
        if (layer.kind == LayerKind::add)
            for (std::size_t j = i; j-- > 0;)
                if (j != first && model_.layers[j].kind == LayerKind::add && shape_of(j) == layer.input) return j;
        const std::size_t other = latest(i, layer.input, first);
        return other == none ? first : other;
    }

    std::vector<std::size_t> inputs_of(std::size_t i) {
        const Layer& layer = model_.layers[i];
        const std::size_t first = main_input(i);
        if (layer.kind == LayerKind::add || layer.kind == LayerKind::multiply)
            return {first, i == 0 ? first : second_input(i, first)};
        if (layer.kind != LayerKind::attention) return {first};
        // Queries, keys and values were left in this order.
        const std::int64_t tokens = layer.kv_tokens > 0 ? layer.kv_tokens : layer.input[0];
        const Shape shape{tokens, layer.kv_heads * layer.head_dim};
        std::size_t v = latest(i, shape, none);
        if (v == none) v = constant(layer, shape, false);
        std::size_t k = latest(std::min(i, v), shape, v);
        if (k == none) k = v;
        std::size_t q = shape == layer.input && k < i ? latest(k, shape, none) : first;
        return {q == none ? first : q, k, v};
    }

    void number_values() {
        net_.constants_ = net_.values_.size();
        const std::size_t count = net_.constants_ + net_.steps_.size();
        std::vector<std::size_t> last_use(count, none);
        for (std::size_t i = 0; i < net_.steps_.size(); ++i)
            for (std::size_t& input : net_.steps_[i].inputs) {
                input = input >= constant_base ? input - constant_base : input + net_.constants_;
                last_use[input] = i;
            }
        for (std::size_t value = net_.constants_; value < count; ++value)
            if (last_use[value] == none)
                net_.ends_.push_back(value);
            else
                net_.steps_[last_use[value]].last_used.push_back(value);
        net_.values_.resize(count);
    }

    const ModelSpec& model_;
    std::int64_t batch_;
    TorchNetwork& net_;
};

Result<std::unique_ptr<TorchNetwork>> TorchNetwork::make(const ModelSpec& model, const Training& training,
                                                         torch::Device device) {
    const auto type = torch_type(training.precision, device);
    if (!type) return type.error();
    if (training.precision == Precision::amp || training.precision == Precision::fp16)
        return unavailable(
            "whole models are run in fp32, tf32 and bf16 alone; operators are measured in any precision");
    auto net = std::make_unique<TorchNetwork>();
    net->weights_.data = torch::TensorOptions().dtype(*type).device(device);
    try {
        if (auto status = TorchWiring(model, training.batch_size, *net).wire(); !status) return status.error();
        if (training.optimizer != Optimizer::none && !net->weights_.trained.empty()) {
            auto optimizer = make_torch_optimizer(net->weights_.trained, training.optimizer);
            if (!optimizer) return optimizer.error();
            net->optimizer_ = *optimizer;
        }
        net->forward();
        for (const std::size_t end : net->ends_) net->end_gradients_.push_back(torch::ones_like(net->values_[end]));
        net->forget();
    } catch (const std::exception& e) {
        return unavailable(fmt::format("{} cannot be run as a whole: {}", model.name, one_line(e.what(), 200)));
    }
    return net;
}

std::vector<std::int64_t> TorchNetwork::gradient_sizes() const {
    std::vector<std::int64_t> out;
    for (const Tensor& w : weights_.trained) out.push_back(w.numel());
    return out;
}

void TorchNetwork::place_gradients(const std::vector<float*>& places) {
    for (std::size_t i = 0; i < weights_.trained.size(); ++i) {
        Tensor& w = weights_.trained[i];
        w.mutable_grad() = torch::from_blob(places[i], w.sizes(), torch::kFloat);
    }
}

void TorchNetwork::make_gradients() {
    for (Tensor& w : weights_.trained) w.mutable_grad() = torch::rand_like(w);
}

void TorchNetwork::on_ready(std::function<void(std::size_t)> ready) {
    for (std::size_t i = 0; i < weights_.trained.size(); ++i)
        accumulators_.push_back(when_gradient_is_whole(weights_.trained[i], [ready, i] { ready(i); }));
}

void TorchNetwork::forward() {
    std::vector<Tensor> inputs;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        const Step& step = steps_[i];
        inputs.clear();
        for (const std::size_t input : step.inputs) inputs.push_back(values_[input]);
        values_[constants_ + i] = step.run(inputs);
        for (const std::size_t value : step.last_used) values_[value].reset();
    }
}

void TorchNetwork::backward() {
    std::vector<Tensor> roots, gradients;
    for (std::size_t i = 0; i < ends_.size(); ++i) {
        if (!values_[ends_[i]].requires_grad()) continue;
        roots.push_back(values_[ends_[i]]);
        gradients.push_back(end_gradients_[i]);
    }
    torch::autograd::backward(roots, gradients);
}

void TorchNetwork::update() {
    if (optimizer_) optimizer_->step();
}

void TorchNetwork::clear_gradients() {
    for (Tensor& w : weights_.trained)
        if (w.grad().defined()) w.mutable_grad().zero_();
}

void TorchNetwork::forget() {
    for (std::size_t i = constants_; i < values_.size(); ++i) values_[i].reset();
}

}  // namespace dlcast
