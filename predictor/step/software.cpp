// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/software.h"

#include "predictor/base/text.h"

namespace dlcast {
namespace {

// Fitted on public step times of these frameworks (see docs); each moves a forecast by 10 to 30 %.
constexpr double eager_host_s = 8e-6;  // one PyTorch operator: Python, dispatcher, autograd, launch
constexpr double graph_host_s = 2e-6;  // kernels issued by an executor without Python
constexpr double eager_step_s = 3e-3;
constexpr double graph_step_s = 2e-3;
constexpr double fused_elementwise = 0.71;       // XLA, torch.compile
constexpr double hand_fused_elementwise = 0.80;  // Apex, Megatron, Composer

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
        // Horovod starts its exchange from a cycle of its own and packs gradients into one buffer first.
        out.overlap = 0.3;
        out.exchange_efficiency = 0.5;
    }
    if (contains(name, "nemo") || contains(name, "megatron") || contains(name, "composer") ||
        contains(name, "torchtitan"))
        out.elementwise_factor = hand_fused_elementwise;
    if (training.compile) {
        out.elementwise_factor = fused_elementwise;
        out.host_s_per_kernel = graph_host_s;
    }
    return out;
}

double software_factor(const Software& software, const Operator& op) {
    switch (op.kind) {
        case OperatorKind::conv2d:
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
