// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/torch_layers.h"

#include <fmt/format.h>

#include <cmath>

#include "predictor/model/shape.h"
#include "profiler/torch_functions.h"
#include "profiler/window.h"

namespace dlcast {
namespace {

using torch::Tensor;
using Inputs = const std::vector<Tensor>&;

// He's initialisation keeps the variance of what flows: no overflow, and no denormals, which a CPU is slow at.
double he(std::int64_t inputs) { return std::sqrt(2.0 / static_cast<double>(std::max<std::int64_t>(1, inputs))); }

Error no_layer(const Layer& layer, const std::string& why) {
    return unavailable(fmt::format("layer {} ({}): {}", layer.name, to_string(layer.kind), why));
}

Result<TorchLayer> convolution(const Layer& layer, TorchWeights& weights) {
    const bool transposed = layer.function == "transposed";
    const Shape& in = transposed ? layer.output : layer.input;
    const Shape& out = transposed ? layer.input : layer.output;
    const auto pad_h = padding_for(in[1], out[1], layer.kernel_h, layer.stride);
    const auto pad_w = padding_for(in[2], out[2], layer.kernel_w, layer.stride);
    if (pad_h < 0 || pad_w < 0) return no_layer(layer, "no padding makes its output of its input");
    const std::int64_t per_group = in[0] / layer.groups;
    const Tensor w = weights.add({out[0], per_group, layer.kernel_h, layer.kernel_w},
                                 he(per_group * layer.kernel_h * layer.kernel_w), layer);
    const Tensor b = layer.bias ? weights.add_constant(layer.output[0], 0.0, layer) : Tensor();
    if (!transposed)
        return TorchLayer([=, s = layer.stride, g = layer.groups](Inputs x) {
            return torch::conv2d(x[0], w, b, s, {pad_h, pad_w}, 1, g);
        });
    const auto missing = [&](std::size_t side, std::int64_t kernel, std::int64_t padding) {
        return layer.output[side] - ((layer.input[side] - 1) * layer.stride - 2 * padding + kernel);
    };
    const auto more_h = missing(1, layer.kernel_h, pad_h), more_w = missing(2, layer.kernel_w, pad_w);
    return TorchLayer([=, s = layer.stride, g = layer.groups](Inputs x) {
        return torch::conv_transpose2d(x[0], w, b, s, {pad_h, pad_w}, {more_h, more_w}, g);
    });
}

TorchLayer linear(const Layer& layer, TorchWeights& weights) {
    const std::int64_t k = layer.input.back(), n = layer.output.back();
    const std::int64_t copies = std::max<std::int64_t>(1, layer.experts);
    std::vector<Tensor> w;
    for (std::int64_t i = 0; i < copies; ++i) {
        Tensor tied = layer.tied ? weights.shared({n, k}) : Tensor();
        w.push_back(tied.defined() ? tied : weights.add({n, k}, he(k), layer));
    }
    const Tensor b = layer.bias ? weights.add_constant(n, 0.0, layer) : Tensor();
    if (copies == 1) return [w = w.front(), b](Inputs x) { return torch::linear(x[0], w, b); };
    // Tokens spread evenly over the experts.
    return [w, b](Inputs x) {
        std::vector<Tensor> parts;
        const auto rows = x[0].reshape({-1, x[0].size(-1)}).chunk(static_cast<std::int64_t>(w.size()));
        for (std::size_t i = 0; i < rows.size(); ++i) parts.push_back(torch::linear(rows[i], w[i], b));
        auto shape = x[0].sizes().vec();
        shape.back() = w.front().size(0);
        return torch::cat(parts).view(shape);
    };
}

Result<TorchLayer> norm(const Layer& layer, TorchWeights& weights) {
    const std::int64_t width = layer.input.size() == 3 ? layer.input.front() : layer.input.back();
    const Tensor w = weights.add_constant(width, 1.0, layer);
    if (layer.kind == LayerKind::rms_norm)  // in parts, as eager models run it
        return TorchLayer([w](Inputs x) { return x[0] * torch::rsqrt(x[0].pow(2).mean(-1, true) + 1e-6) * w; });
    const Tensor b = weights.add_constant(width, 0.0, layer);
    if (layer.kind == LayerKind::layer_norm) {
        if (layer.input.size() == 3) return no_layer(layer, "LibTorch has no layer norm over the channels of an image");
        return TorchLayer([=](Inputs x) { return torch::layer_norm(x[0], {width}, w, b); });
    }
    if (layer.kind == LayerKind::group_norm) {
        const std::int64_t groups = width % 32 == 0 ? 32 : 1;
        return TorchLayer([=](Inputs x) { return torch::group_norm(x[0], groups, w, b); });
    }
    const Tensor mean = torch::zeros_like(w), variance = torch::ones_like(w);
    const bool by_token = layer.input.size() == 2;  // channels come second
    return TorchLayer([=](Inputs x) {
        const Tensor in = by_token ? x[0].transpose(1, 2) : x[0];
        const Tensor out = torch::batch_norm(in, w, b, mean, variance, true, 0.1, 1e-5, true);
        return by_token ? out.transpose(1, 2) : out;
    });
}

Result<TorchLayer> activation(const Layer& layer) {
    const std::string& f = layer.function;
    const auto plain = [](Tensor (*function)(const Tensor&)) {
        return TorchLayer([function](Inputs x) { return function(x[0]); });
    };
    if (f == "relu" || f == "relu6") return plain([](const Tensor& x) { return torch::relu(x); });
    if (f == "tanh") return plain([](const Tensor& x) { return torch::tanh(x); });
    if (f == "sigmoid") return plain([](const Tensor& x) { return torch::sigmoid(x); });
    if (f == "silu" || f == "swish") return plain([](const Tensor& x) { return torch::silu(x); });
    if (f == "quick_gelu") return plain([](const Tensor& x) { return x * torch::sigmoid(x * 1.702); });
    if (f == "gelu_new")
        return plain([](const Tensor& x) {
            return x * 0.5 * (torch::tanh((x + torch::pow(x, 3.0) * 0.044715) * 0.79788456) + 1.0);
        });
    if (f.starts_with("gelu")) return plain([](const Tensor& x) { return torch::gelu(x); });
    if (f == "rope") return plain([](const Tensor& x) { return x * 0.8 + torch::roll(x, 1, -1) * 0.6; });
    return plain([](const Tensor& x) { return torch::elu(x); });
}

Result<TorchLayer> pool(const Layer& layer) {
    const bool maximum = layer.kind == LayerKind::max_pool;
    if (layer.kind == LayerKind::global_avg_pool || layer.output.size() != 3 || layer.output[1] * layer.output[2] == 1)
        return TorchLayer([maximum, flat = layer.output.size() == 1](Inputs x) {
            return maximum ? torch::amax(x[0], {2, 3}, !flat) : torch::mean(x[0], {2, 3}, !flat);
        });
    const auto pad_h = padding_for(layer.input[1], layer.output[1], layer.kernel_h, layer.stride);
    const auto pad_w = padding_for(layer.input[2], layer.output[2], layer.kernel_w, layer.stride);
    if (pad_h < 0 || pad_w < 0 || 2 * pad_h > layer.kernel_h || 2 * pad_w > layer.kernel_w)
        return TorchLayer([maximum, h = layer.output[1], w = layer.output[2]](Inputs x) {
            return maximum ? std::get<0>(torch::adaptive_max_pool2d(x[0], {h, w}))
                           : torch::adaptive_avg_pool2d(x[0], {h, w});
        });
    return TorchLayer([=, h = layer.kernel_h, w = layer.kernel_w, s = layer.stride](Inputs x) {
        return maximum ? torch::max_pool2d(x[0], {h, w}, s, {pad_h, pad_w})
                       : torch::avg_pool2d(x[0], {h, w}, s, {pad_h, pad_w});
    });
}

// Eager attention, or the library's fused kernel: head by head, [batch, tokens, heads x width].
TorchLayer attention(const Layer& layer, TorchWeights& weights) {
    const std::int64_t keys = layer.kv_tokens > 0 ? layer.kv_tokens : layer.input[0];
    const Tensor mask = layer.function == "unmasked" ? Tensor() : torch::zeros({layer.input[0], keys}, weights.data);
    return [=, heads = layer.heads, kv_heads = layer.kv_heads, d = layer.head_dim, fused = layer.fused,
            drop = layer.dropout](Inputs x) {
        const auto by_head = [&](const Tensor& t, std::int64_t count) {
            const Tensor split = t.view({t.size(0), t.size(1), count, d}).transpose(1, 2);
            return count == heads ? split : split.repeat_interleave(heads / count, 1);
        };
        const Tensor q = by_head(x[0], heads), k = by_head(x[1], kv_heads), v = by_head(x[2], kv_heads);
        Tensor out;
        if (fused) {
            out = torch_attention(q.flatten(0, 1), k.flatten(0, 1), v.flatten(0, 1)).view(q.sizes());
        } else {
            Tensor scores = torch::matmul(q, k.transpose(-1, -2)) / std::sqrt(static_cast<double>(d));
            if (mask.defined()) scores = scores + mask;
            scores = torch::softmax(scores, -1);
            if (drop) scores = torch::dropout(scores, 0.1, true);
            out = torch::matmul(scores, v);
        }
        return out.transpose(1, 2).reshape({x[0].size(0), x[0].size(1), heads * d});
    };
}

TorchLayer recurrent(const Layer& layer, std::int64_t batch, TorchWeights& weights) {
    const std::int64_t directions = layer.groups, hidden = layer.output.back() / directions, in = layer.input.back();
    const bool lstm = layer.kind == LayerKind::lstm;
    const std::int64_t gates = (lstm ? 4 : 3) * hidden;
    std::vector<Tensor> w;
    for (std::int64_t i = 0; i < directions; ++i) {
        w.push_back(weights.add({gates, in}, he(in + hidden), layer));
        w.push_back(weights.add({gates, hidden}, he(in + hidden), layer));
        w.push_back(weights.add_constant(gates, 0.0, layer));
        w.push_back(weights.add_constant(gates, 0.0, layer));
    }
    const Tensor state = torch::zeros({directions, batch, hidden}, weights.data);
    return [=, last = layer.output.size() == 1](Inputs x) {
        const bool both = directions > 1;
        const Tensor out = lstm ? std::get<0>(torch::lstm(x[0], {state, state}, w, true, 1, 0.0, true, both, true))
                                : std::get<0>(torch::gru(x[0], state, w, true, 1, 0.0, true, both, true));
        return last ? out.select(1, out.size(1) - 1) : out;
    };
}

TorchLayer view(const Layer& layer, std::int64_t batch) {
    const auto in = static_cast<std::int64_t>(elements(layer.input));
    const auto out = static_cast<std::int64_t>(elements(layer.output));
    const auto shape = with_batch(batch, layer.output);
    if (in == out) return [shape](Inputs x) { return x[0].reshape(shape); };
    if (in > out)  // the first tokens, the queries of packed projections
        return [=](Inputs x) { return x[0].flatten(1).narrow(1, 0, out).reshape(shape); };
    if (out % in == 0)  // each token to several experts
        return [=](Inputs x) { return x[0].flatten(1).repeat({1, out / in}).view(shape); };
    return [=](Inputs x) {
        return torch::constant_pad_nd(x[0].flatten(1), {0, out - in}).view(shape);
    };  // a class token
}

TorchLayer loss(const Layer& layer, std::int64_t batch, TorchWeights& weights) {
    const std::int64_t classes = layer.input.back();
    const auto rows = batch * static_cast<std::int64_t>(rows_of(layer.input));
    const Tensor target = torch::randint(classes, {rows}, weights.data.dtype(torch::kLong));
    return [=](Inputs x) {
        return torch::nn::functional::cross_entropy(x[0].reshape({rows, classes}).to(torch::kFloat), target);
    };
}

}  // namespace

Tensor TorchWeights::add(at::IntArrayRef shape, double deviation, const Layer& layer) {
    const Tensor w = (torch::randn(shape, data.dtype(torch::kFloat)) * deviation).to(data.dtype());
    auto& list = layer.trainable ? trained : frozen;
    list.push_back(w.set_requires_grad(layer.trainable));
    return w;
}

Tensor TorchWeights::add_constant(std::int64_t size, double value, const Layer& layer) {
    const Tensor w = torch::full({size}, value, data);
    auto& list = layer.trainable ? trained : frozen;
    list.push_back(w.set_requires_grad(layer.trainable));
    return w;
}

Tensor TorchWeights::shared(at::IntArrayRef shape) const {
    for (const auto* list : {&trained, &frozen})
        for (const Tensor& w : *list)
            if (w.sizes() == shape) return w;
    return {};
}

std::vector<std::int64_t> with_batch(std::int64_t batch, const Shape& shape) {
    std::vector<std::int64_t> out{batch};
    out.insert(out.end(), shape.begin(), shape.end());
    return out;
}

Result<TorchLayer> make_torch_layer(const Layer& layer, std::int64_t batch, TorchWeights& weights) {
    switch (layer.kind) {
        case LayerKind::conv2d:
            return convolution(layer, weights);
        case LayerKind::linear:
            return linear(layer, weights);
        case LayerKind::embedding:
            return TorchLayer([w = weights.add({layer.vocab, layer.output.back()}, 1.0, layer)](Inputs x) {
                return torch::embedding(w, x[0]);
            });
        case LayerKind::batch_norm:
        case LayerKind::layer_norm:
        case LayerKind::rms_norm:
        case LayerKind::group_norm:
            return norm(layer, weights);
        case LayerKind::activation:
            return activation(layer);
        case LayerKind::softmax:
            return TorchLayer([](Inputs x) { return torch::softmax(x[0], -1); });
        case LayerKind::dropout:
            return TorchLayer([](Inputs x) { return torch::dropout(x[0], 0.1, true); });
        case LayerKind::max_pool:
        case LayerKind::avg_pool:
        case LayerKind::global_avg_pool:
            return pool(layer);
        case LayerKind::add:
            return TorchLayer([](Inputs x) { return x[0] + x[1]; });
        case LayerKind::multiply:
            return TorchLayer([](Inputs x) { return x[0] * x[1]; });
        case LayerKind::concat: {
            const std::size_t along = layer.output.size() == 3 ? 0 : layer.output.size() - 1;
            Shape rest = layer.output;
            rest[along] -= layer.input[along];
            const Tensor other = torch::ones(with_batch(batch, rest), weights.data);
            return TorchLayer([=](Inputs x) {
                return torch::cat({x[0], other}, static_cast<std::int64_t>(along) + 1);
            });
        }
        case LayerKind::flatten:
        case LayerKind::reshape:
            return view(layer, batch);
        case LayerKind::upsample:
            return TorchLayer([h = layer.output[1], w = layer.output[2]](Inputs x) {
                return torch::upsample_nearest2d(x[0], {h, w});
            });
        case LayerKind::attention:
            return attention(layer, weights);
        case LayerKind::lstm:
        case LayerKind::gru:
            return recurrent(layer, batch, weights);
        case LayerKind::loss:
            return loss(layer, batch, weights);
    }
    return no_layer(layer, "LibTorch has no such layer");
}

}  // namespace dlcast
