// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/software.h"

#include "predictor/base/text.h"

namespace dlcast {
namespace {

// Chosen on public step times of these frameworks, each rounded; a factor here moves a forecast by 10 to 30 %.
constexpr double eager_host_s = 8e-6;  // one PyTorch operator: Python, dispatcher, autograd, launch
constexpr double graph_host_s = 2e-6;  // kernels issued by an executor without Python
constexpr double eager_step_s = 3e-3;  // loop, loader, gradient scaling, logging
constexpr double graph_step_s = 2e-3;
constexpr double session_s = 1.5e-3;
constexpr double compiled_elementwise = 0.71;    // XLA, torch.compile
constexpr double hand_fused_elementwise = 0.80;  // Apex, Megatron, Composer, torchtitan
constexpr double engine_elementwise = 0.60;    // NeMo's Transformer Engine; MXNet's fused batch norm, addition and ReLU
constexpr double fused_norm_product = 0.75;    // MXNet: the convolution's epilogue holds the norm's statistics
constexpr double depthwise_factor = 2.0;       // of cuDNN's kernels: a tenth of the bandwidth
constexpr double engine_tensor_overlap = 0.6;  // NeMo sends parts of a product while it computes the next
constexpr double horovod_overlap = 0.3;        // its exchange starts from a cycle of its own ...
constexpr double horovod_efficiency = 0.5;     // ... and packs gradients into one buffer first

bool contains(const std::string& text, const char* word) { return text.find(word) != std::string::npos; }

}  // namespace

Software software_of(const Training& training) {
    const std::string name = to_lower(training.framework);
    Software out{.host_s_per_kernel = eager_host_s, .step_s = eager_step_s};
    const bool graph =
        contains(name, "tensorflow") || contains(name, "mxnet") || contains(name, "paddle") || contains(name, "jax");
    if (graph) {
        out.host_s_per_kernel = graph_host_s;
        out.step_s = graph_step_s;
    }
    if (contains(name, "horovod")) {
        out.overlap = horovod_overlap;
        out.exchange_efficiency = horovod_efficiency;
    }
    if (contains(name, "megatron") || contains(name, "composer") || contains(name, "torchtitan"))
        out.elementwise_factor = hand_fused_elementwise;
    if (contains(name, "nemo")) out.tensor_overlap = engine_tensor_overlap;
    if (contains(name, "nemo") || contains(name, "mxnet")) out.elementwise_factor = engine_elementwise;
    if (contains(name, "mxnet")) out.product_factor = fused_norm_product;
    if (training.compile) {
        out.elementwise_factor = compiled_elementwise;
        out.host_s_per_kernel = graph_host_s;
    }
    // A forward pass alone has no gradients to scale and no loop around an optimizer; a session still feeds and
    // fetches.
    if (training.forward_only) out.step_s = graph ? session_s : 0;
    return out;
}

double software_factor(const Software& software, const Operator& op) {
    switch (op.kind) {
        case OperatorKind::conv2d:
            return software.product_factor * (op.groups > 1 && op.groups == op.in_ch ? depthwise_factor : 1.0);
        case OperatorKind::linear:
        case OperatorKind::bmm:
        case OperatorKind::attention:
        case OperatorKind::recurrent:
            return software.product_factor;
        case OperatorKind::optimizer:
        case OperatorKind::embedding:
        case OperatorKind::pooling:
        case OperatorKind::copy:
            return 1.0;
        default:
            return software.elementwise_factor;
    }
}

}  // namespace dlcast
