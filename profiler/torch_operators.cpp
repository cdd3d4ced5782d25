// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/torch_operators.h"

#include <fmt/format.h>

#include "profiler/torch_functions.h"
#include "profiler/window.h"

namespace dlcast {

using torch::Tensor;

Tensor TorchMaker::values(at::IntArrayRef shape) const {
    return torch::rand(shape, data.dtype(torch::kFloat)).add_(0.5).to(data.dtype());
}

Tensor TorchMaker::indices(std::int64_t count, std::int64_t below) const {
    return torch::randint(below, {count}, data.dtype(torch::kLong));
}

Result<TorchForward> TorchMaker::convolution() const {
    const auto pad_h = padding_for(op.in_h, op.out_h, op.kernel_h, op.stride);
    const auto pad_w = padding_for(op.in_w, op.out_w, op.kernel_w, op.stride);
    if (pad_h < 0 || pad_w < 0)
        return unavailable(fmt::format("no padding makes {} x {} of {} x {} with kernel {} x {} and stride {}",
                                       op.out_h, op.out_w, op.in_h, op.in_w, op.kernel_h, op.kernel_w, op.stride));
    Tensor x = values({op.batch, op.in_ch, op.in_h, op.in_w});
    Tensor w = values({op.out_ch, op.in_ch / op.groups, op.kernel_h, op.kernel_w});
    if (op.channels_last) {
        x = x.contiguous(torch::MemoryFormat::ChannelsLast);
        w = w.contiguous(torch::MemoryFormat::ChannelsLast);
    }
    TorchForward out{{x, w}, {}};
    if (op.bias) out.inputs.push_back(values({op.out_ch}));
    out.run = [=, stride = op.stride, groups = op.groups](const std::vector<Tensor>& in) {
        return torch::conv2d(in[0], in[1], in.size() > 2 ? in[2] : Tensor(), stride, {pad_h, pad_w}, 1, groups);
    };
    return out;
}

Result<TorchForward> TorchMaker::pooling() const {
    const Tensor x = values({op.batch, op.in_ch, op.in_h, op.in_w});
    const bool maximum = op.function == Function::none;
    if (op.cols == 1)
        return TorchForward{{x}, [maximum](const std::vector<Tensor>& in) {
                                return maximum ? torch::amax(in[0], {2, 3}) : torch::mean(in[0], {2, 3});
                            }};
    const auto window = pooling_window(op);
    if (!window) return window.error();
    return TorchForward{{x}, [maximum, w = *window, s = op.stride](const std::vector<Tensor>& in) {
                            return maximum ? torch::max_pool2d(in[0], {w.kernel_h, w.kernel_w}, s, {w.pad_h, w.pad_w})
                                           : torch::avg_pool2d(in[0], {w.kernel_h, w.kernel_w}, s, {w.pad_h, w.pad_w});
                        }};
}

TorchForward TorchMaker::elementwise() const {
    switch (op.function) {
        case Function::add:
            return TorchForward{{rows_cols(), rows_cols()}, [](const auto& in) { return in[0] + in[1]; }};
        case Function::mul:
            return TorchForward{{rows_cols(), rows_cols()}, [](const auto& in) { return in[0] * in[1]; }};
        case Function::div:
            return TorchForward{{rows_cols(), rows_cols()}, [](const auto& in) { return in[0] / in[1]; }};
        case Function::pow:
            return TorchForward{{rows_cols(), rows_cols()}, [](const auto& in) { return torch::pow(in[0], in[1]); }};
        default:
            return TorchForward{{rows_cols()}, [f = op.function](const auto& in) { return torch_function(f, in[0]); }};
    }
}

TorchForward TorchMaker::batch_norm() const {
    // A row a sample and pixel: channels last as it is; otherwise one image of `rows` pixels.
    const Tensor x = op.channels_last ? rows_cols() : values({1, op.cols, op.rows, 1});
    const auto whole = data.dtype(torch::kFloat);
    const Tensor mean = torch::zeros({op.cols}, whole), variance = torch::ones({op.cols}, whole);
    return {{x, torch::ones({op.cols}, whole), torch::zeros({op.cols}, whole)},
            [mean, variance](const std::vector<Tensor>& in) {
                return torch::batch_norm(in[0], in[1], in[2], mean, variance, true, 0.1, 1e-5, true);
            }};
}

TorchForward TorchMaker::recurrent() const {
    TorchForward out{{values({op.m, op.batch, op.k}), values({4 * op.n, op.k}), values({4 * op.n, op.n}),
                      values({4 * op.n}), values({4 * op.n})},
                     {}};
    const Tensor state = torch::zeros({1, op.batch, op.n}, data);
    out.run = [state](const std::vector<Tensor>& in) {
        return std::get<0>(
            torch::lstm(in[0], {state, state}, {in[1], in[2], in[3], in[4]}, true, 1, 0.0, true, false, false));
    };
    return out;
}

Result<TorchForward> TorchMaker::forward() const {
    switch (op.kind) {
        case OperatorKind::conv2d:
            return convolution();
        case OperatorKind::linear: {
            TorchForward out{{values({op.m, op.k}), values({op.n, op.k})}, {}};
            if (op.bias) out.inputs.push_back(values({op.n}));
            out.run = [](const auto& in) { return torch::linear(in[0], in[1], in.size() > 2 ? in[2] : Tensor()); };
            return out;
        }
        case OperatorKind::bmm:
            return TorchForward{{values({op.batch, op.m, op.k}), values({op.batch, op.k, op.n})},
                                [](const auto& in) { return torch::bmm(in[0], in[1]); }};
        case OperatorKind::attention:
            return TorchForward{
                {values({op.batch, op.m, op.k}), values({op.batch, op.n, op.k}), values({op.batch, op.n, op.k})},
                [](const auto& in) { return torch_attention(in[0], in[1], in[2]); }};
        case OperatorKind::elementwise:
            return elementwise();
        case OperatorKind::softmax:
            return TorchForward{{rows_cols()}, [](const auto& in) { return torch::softmax(in[0], -1); }};
        case OperatorKind::layer_norm:
            return TorchForward{{rows_cols(), values({op.cols}), values({op.cols})}, [cols = op.cols](const auto& in) {
                                    return torch::layer_norm(in[0], {cols}, in[1], in[2]);
                                }};
        case OperatorKind::batch_norm:
            return batch_norm();
        case OperatorKind::pooling:
            return pooling();
        case OperatorKind::embedding:
            return TorchForward{{values({op.vocab, op.cols})}, [ids = indices(op.rows, op.vocab)](const auto& in) {
                                    return torch::embedding(in[0], ids);
                                }};
        case OperatorKind::dropout:
            return TorchForward{{rows_cols()}, [](const auto& in) { return torch::dropout(in[0], 0.1, true); }};
        case OperatorKind::loss:
            return TorchForward{{rows_cols()}, [target = indices(op.rows, op.cols)](const auto& in) {
                                    return torch::nn::functional::cross_entropy(in[0], target);
                                }};
        case OperatorKind::recurrent:
            return recurrent();
        case OperatorKind::copy: {
            if (op.function != Function::other)
                return TorchForward{{rows_cols()}, [](const auto& in) { return in[0].clone(); }};
            const Tensor wide = torch::rand({op.rows, op.cols}, data.dtype(torch::kFloat));
            return TorchForward{
                {wide}, [to = torch::typeMetaToScalarType(data.dtype())](const auto& in) { return in[0].to(to); }};
        }
        case OperatorKind::optimizer:
            break;
    }
    return unavailable("an update has no forward");
}

}  // namespace dlcast
