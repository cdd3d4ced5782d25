// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/software_kind.h"

#include "predictor/base/text.h"

namespace dlcast {
namespace {

bool contains(const std::string& text, const char* word) { return text.find(word) != std::string::npos; }

SoftwareKind by_name(const std::string& name) {
    SoftwareKind out;
    if (contains(name, "tensorflow2") || contains(name, "tensorflow-2") || contains(name, "keras"))
        return {.factor = StepConstant::software_tensorflow2, .host = Host::session};
    if (contains(name, "tensorflow")) return {.factor = StepConstant::software_tensorflow1, .host = Host::session};
    if (contains(name, "mxnet") || contains(name, "paddle"))
        return {
            .factor = contains(name, "mxnet") ? StepConstant::software_mxnet : StepConstant::software_paddle,
            .host = Host::graph,
            .fusion = Fusion::batch_norm,
            .update = Update::fused,
        };
    if (contains(name, "jax"))
        return {
            .factor = StepConstant::software_compiled,
            .host = Host::graph,
            .fusion = Fusion::by_compiler,
            .update = Update::fused,
        };
    if (contains(name, "composer"))
        return {
            .factor = StepConstant::software_composer,
            .fusion = Fusion::by_hand,
            .update = Update::fused,
            .second_attention = false,
        };
    if (contains(name, "nemo"))
        return {
            .factor = StepConstant::software_nemo,
            .host = Host::graph,
            .fusion = Fusion::by_hand,
            .megatron = true,
            .update = Update::fused,
            .sequence_parallel = true,
            .hides_tensor_exchange = true,
        };
    if (contains(name, "titan"))
        return {
            .factor = StepConstant::software_titan,
            .update = Update::fused,
            .sequence_parallel = true,
            .hides_tensor_exchange = true,
        };
    const bool accelerate = contains(name, "accelerate");  // its eager models under Megatron's names
    if (contains(name, "megatron") && !accelerate)
        return {
            .factor = StepConstant::software_megatron,
            .fusion = Fusion::by_hand,
            .megatron = true,
            .update = Update::fused,
        };
    if (contains(name, "pytorch-2.") || accelerate)
        return {.factor = StepConstant::software_eager, .update = Update::by_list};
    if (name == "pytorch") return {.factor = StepConstant::software_apex};
    return {.factor = StepConstant::software_container};
}

// cuDNN joins batch norm, addition and activation for half-width tensors with channels last, nothing else; the same
// frameworks' language models are fused by hand.
Fusion of_batch_norm(const ModelSpec& model, const Training& training) {
    if (model.image_size == 0) return Fusion::by_hand;
    return training.channels_last && element_bytes(training.precision) < 4 ? Fusion::batch_norm : Fusion::none;
}

// Containers and Apex bring fused kernels for Adam, Apex for LAMB too; what else PyTorch's own classes run before
// version 2 goes tensor by tensor.
Update update_of(const SoftwareKind& kind, Optimizer optimizer) {
    const bool adam = optimizer == Optimizer::adam || optimizer == Optimizer::adamw;
    if (kind.factor == StepConstant::software_container) return adam ? Update::fused : Update::by_tensor;
    if (kind.factor == StepConstant::software_apex)
        return adam || optimizer == Optimizer::lamb ? Update::fused : Update::by_tensor;
    return kind.update;
}

}  // namespace

SoftwareKind software_kind(const ModelSpec& model, const Training& training) {
    const std::string name = to_lower(training.framework);
    SoftwareKind out = by_name(name);
    out.horovod = contains(name, "horovod");
    if (out.fusion == Fusion::batch_norm) out.fusion = of_batch_norm(model, training);
    out.update = update_of(out, training.optimizer);
    out.compiled = training.compile && out.factor != StepConstant::software_compiled;
    if (training.compile) {
        out.fusion = Fusion::by_compiler;
        if (out.host == Host::eager) out.host = Host::graph;
        out.update = Update::fused;
    }
    return out;
}

}  // namespace dlcast
