// SPDX-License-Identifier: GPL-2.0-or-later
// What one GPU exchanges with others in a step, message by message, each with the seconds that NCCL's cost model gives
// it alone on its links.
#pragma once

#include <vector>

#include "predictor/step/layout.h"
#include "predictor/step/link_catalog.h"
#include "predictor/step/message_times.h"
#include "predictor/step/software_kind.h"
#include "predictor/timing/lowering.h"

namespace dlcast {

/// Gradients that travel together, and the share of backward after which they are ready.
struct GradientBucket {
    Message reduce;
    double ready = 1.0;
};

/// Layers that gather their weights together before they compute, and scatter their gradients behind backward.
struct ShardedUnit {
    Message gather, scatter;
    double forward_share = 0.0, backward_share = 0.0;  // of a micro-step's compute
};

struct StepExchange {
    std::vector<GradientBucket> buckets;  // in the order of backward
    double bucket_rounds = 1.0;           // exchanges in a step
    Message updated_weights;              // ZeRO 1 and 2: gathered behind the update
    std::vector<ShardedUnit> units;       // FSDP and ZeRO 3: in the order of forward
    bool gathers_again = true;            // in backward too
    Message tensor;                       // among tensor ranks, `tensor_messages` in a micro-step
    double tensor_messages = 0.0;
    Message ring;                  // keys and values of a forward, around the context ring
    Message stage;                 // activations from one pipeline stage to the next
    Message experts;               // tokens to the experts' ranks, or back
    double expert_messages = 0.0;  // in a micro-step
};

/// What the exchange depends on. `stage`: share of the layers on this GPU.
struct ExchangeQuery {
    const Workload& workload;
    const Allocation& allocation;
    const Layout& layout;
    const SoftwareKind& software;
    const std::vector<LayerOperators>& lowered;  // by distinct layer
    const std::vector<std::uint32_t>& place;     // of each layer of the model, in `lowered`
    double micro_batch = 1.0, stage = 1.0;
};

/// Data ranks reduce gradients in DistributedDataParallel's buckets (the first of 1 MiB, then 25 MiB, last layer
/// first), Horovod's fusion buffer (64 MiB) or Megatron's buckets (40 M parameters, a million a data rank if that is
/// more); or shard by unit. Tensor ranks reduce twice a block and direction, context ranks pass keys and values around,
/// experts' ranks exchange tokens twice a layer and direction.
/// Sources: Li et al., PyTorch Distributed, VLDB 13 (2020); Sergeev & Del Balso, Horovod, arXiv:1802.05799; Zhao et
/// al., PyTorch FSDP, VLDB 16 (2023); Rajbhandari et al., ZeRO, SC20; Korthikanti et al., arXiv:2205.05198; Lepikhin
/// et al., GShard, arXiv:2006.16668; Megatron-LM d98e8a64 (bucket sizes).
StepExchange step_exchange(const ExchangeQuery& query, const FittedCollectives& collectives);

}  // namespace dlcast
