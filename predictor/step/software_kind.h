// SPDX-License-Identifier: GPL-2.0-or-later
// What kind of software runs a training: how its host issues kernels, what it fuses, how it exchanges gradients.
#pragma once

#include "predictor/model/workload.h"
#include "predictor/step/step_coefficients.h"

namespace dlcast {

/// eager: Python issues each kernel. session: an executor of a graph (TensorFlow). graph: kernels issued without an
/// interpreter between them (CUDA graphs, static graphs, compiled models).
enum class Host { eager, session, graph };
enum class Fusion { none, by_hand, by_compiler, batch_norm };
/// How an optimizer's arithmetic reaches the device: kernel by kernel for each tensor, kernel by kernel for lists of
/// tensors, or in one kernel for lists of tensors.
enum class Update { by_tensor, by_list, fused };

struct SoftwareKind {
    StepConstant factor = StepConstant::software_container;  // of its kernels' time
    Host host = Host::eager;
    Fusion fusion = Fusion::none;
    bool compiled = false;
    bool horovod = false;
    bool megatron = false;  // its buckets of gradients
    Update update = Update::by_tensor;
    bool sequence_parallel = false;      // tensor ranks divide norms and dropout too, unasked
    bool hides_tensor_exchange = false;  // behind the products next to it
    bool second_attention = true;        // fused attention of the second generation
};

/// By the framework's name as people write it ("pytorch-22.09", "tensorflow2+horovod", "nemo", ...); unknown ones are
/// taken for PyTorch in a vendor's container.
SoftwareKind software_kind(const ModelSpec& model, const Training& training);

}  // namespace dlcast
