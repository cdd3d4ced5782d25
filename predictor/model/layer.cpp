// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/layer.h"

#include "predictor/model/shape.h"

namespace dlcast {

const char* to_string(LayerKind kind) {
    switch (kind) {
        case LayerKind::conv2d:
            return "conv2d";
        case LayerKind::linear:
            return "linear";
        case LayerKind::embedding:
            return "embedding";
        case LayerKind::batch_norm:
            return "batch_norm";
        case LayerKind::layer_norm:
            return "layer_norm";
        case LayerKind::rms_norm:
            return "rms_norm";
        case LayerKind::group_norm:
            return "group_norm";
        case LayerKind::activation:
            return "activation";
        case LayerKind::softmax:
            return "softmax";
        case LayerKind::dropout:
            return "dropout";
        case LayerKind::max_pool:
            return "max_pool";
        case LayerKind::avg_pool:
            return "avg_pool";
        case LayerKind::global_avg_pool:
            return "global_avg_pool";
        case LayerKind::add:
            return "add";
        case LayerKind::multiply:
            return "multiply";
        case LayerKind::concat:
            return "concat";
        case LayerKind::flatten:
            return "flatten";
        case LayerKind::reshape:
            return "reshape";
        case LayerKind::upsample:
            return "upsample";
        case LayerKind::attention:
            return "attention";
        case LayerKind::lstm:
            return "lstm";
        case LayerKind::gru:
            return "gru";
        case LayerKind::loss:
            return "loss";
    }
    return "";
}

double forward_flops(const Layer& layer) {
    switch (layer.kind) {
        case LayerKind::conv2d:
            // A transposed convolution spreads each input over a window, another gathers each output from one.
            if (layer.function == "transposed")
                return 2.0 * elements(layer.input) * static_cast<double>(layer.kernel_h * layer.kernel_w) *
                       static_cast<double>(layer.output.front()) / static_cast<double>(layer.groups);
            return 2.0 * elements(layer.output) * static_cast<double>(layer.kernel_h * layer.kernel_w) *
                   static_cast<double>(layer.input.front()) / static_cast<double>(layer.groups);
        case LayerKind::linear:
            return 2.0 * elements(layer.input) * static_cast<double>(layer.output.back());
        case LayerKind::attention: {
            const double tokens = rows_of(layer.input);
            const double keys = layer.kv_tokens > 0 ? static_cast<double>(layer.kv_tokens) : tokens;
            return 4.0 * tokens * keys * static_cast<double>(layer.heads * layer.head_dim) * (layer.causal ? 0.5 : 1.0);
        }
        case LayerKind::lstm:
        case LayerKind::gru: {
            const double gates = layer.kind == LayerKind::lstm ? 4.0 : 3.0;
            const auto directions = static_cast<double>(layer.groups);
            const double in = static_cast<double>(layer.input.back());
            const double hidden = static_cast<double>(layer.output.back()) / directions;
            return 2.0 * directions * gates * rows_of(layer.input) * hidden * (in + hidden);
        }
        default:
            return 0.0;
    }
}

double forward_flops(const ModelSpec& model) {
    double sum = 0.0;
    for (const Layer& layer : model.layers) sum += forward_flops(layer);
    return sum;
}

}  // namespace dlcast
