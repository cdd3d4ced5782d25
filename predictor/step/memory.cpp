// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/memory.h"

#include <algorithm>
#include <cmath>

#include "predictor/step/activation_memory.h"
#include "predictor/step/micro_batch.h"
#include "predictor/step/runtime_memory.h"
#include "predictor/step/software_kind.h"

namespace dlcast {
namespace {

// Rounding of blocks, and sizes that the caching allocator cannot join, of what comes and goes. Near the card's end the
// allocator returns what it caches, so that little is lost of a training that just fits.
constexpr double fragmentation_share = 0.02;

// Weights are gathered one block ahead of the one that runs.
constexpr double gathered_blocks = 2;

double state_bytes(Optimizer optimizer) {
    switch (optimizer) {
        case Optimizer::none:
        case Optimizer::sgd:
            return 0;
        case Optimizer::momentum:
        case Optimizer::adagrad:
        case Optimizer::lars:
            return 4;
        case Optimizer::adafactor:
            return 0.1;  // row and column factors
        case Optimizer::rmsprop:
        case Optimizer::adadelta:
        case Optimizer::adam:
        case Optimizer::adamw:
        case Optimizer::lamb:
            return 8;
    }
    return 8;
}

bool is_narrow(Precision precision) {
    return precision == Precision::fp16 || precision == Precision::bf16 || precision == Precision::fp8;
}

// DistributedDataParallel copies gradients into buckets, all of them together as large as the gradients. Megatron's
// gradients are its buckets; other frameworks fuse messages in a buffer of 64 MB (HOROVOD_FUSION_THRESHOLD of Horovod).
double bucket_bytes(const Training& training, const Layout& layout, double gradients_bytes) {
    if (layout.data.ranks() < 2 || layout.gradient_shards > 1 || training.forward_only) return 0.0;
    const auto is = [&](const char* name) { return training.framework.find(name) != std::string::npos; };
    if (is("megatron") || is("nemo")) return 0.0;
    return is("pytorch") ? gradients_bytes : std::min(gradients_bytes, 64e6);
}

// Sharded weights are whole while their block runs, and those outside blocks over the whole step; so are a block's
// gradients before they are reduced.
double gathered_bytes(const Training& training, const Layout& layout, const StageParameters& parameters) {
    if (layout.weight_shards < 2) return 0.0;
    const double e = element_bytes(training.precision);
    const double whole = gathered_blocks * parameters.largest_block + parameters.outside_blocks;
    return e * std::min(whole, parameters.all) + (training.forward_only ? 0.0 : e * parameters.largest_block);
}

// A frozen weight has no master copy: in fp8 it is kept as it is multiplied, in one byte.
double frozen_width(const Training& training, const BytesPerParameter& per) {
    return training.precision == Precision::fp8 ? 1.0 : per.weight;
}

// Autocast keeps a 16-bit copy of the weights of products until their backward.
double cast_bytes(const Training& training, const StageParameters& parameters) {
    return training.precision == Precision::amp ? 2 * parameters.trained_products : 0.0;
}

// In all that what layers need depends on; shards and places are counted afterwards.
bool same_degrees(const Layout& a, const Layout& b) {
    return a.tp == b.tp && a.pp == b.pp && a.vp == b.vp && a.cp == b.cp && a.ep == b.ep &&
           a.sequence_parallel == b.sequence_parallel;
}

constexpr std::int64_t most_samples = std::int64_t{1} << 30;  // of a batch size; no card holds as many

// Software may divide sequences over tensor ranks unasked.
Result<Layout> layout_of(const Workload& workload, const Allocation& allocation) {
    auto layout = make_layout(workload.training.parallel, allocation);
    if (layout && layout->tp > 1 && software_kind(workload.model, workload.training).sequence_parallel)
        layout->sequence_parallel = true;
    return layout;
}

}  // namespace

BytesPerParameter bytes_per_parameter(const Training& training, bool accumulates) {
    BytesPerParameter out;
    out.optimizer = state_bytes(training.optimizer);
    if (is_narrow(training.precision)) out = {2, accumulates ? 4.0 : 2.0, out.optimizer + 4};
    if (training.forward_only) out.gradient = out.optimizer = 0;
    return out;
}

void MemoryEstimator::add_up(const Layout& layout) {
    if (layout_ && same_degrees(*layout_, layout)) return;
    layout_ = layout;
    parameters_ = stage_parameters(workload_.model, layout);
    activation_bytes_ = activation_memory(workload_, layout).total_bytes();
}

MemoryEstimate MemoryEstimator::on(const Layout& layout, std::int64_t micro_batch, const Device& device) {
    add_up(layout);
    const Training& training = workload_.training;
    const BytesPerParameter per = bytes_per_parameter(training, micro_steps_of(training, layout) > 1);
    const auto samples = static_cast<double>(micro_batch);
    const double frozen = parameters_.all - parameters_.trained;
    MemoryEstimate out;
    out.weights_bytes =
        (per.weight * parameters_.trained + frozen_width(training, per) * frozen) / layout.weight_shards;
    out.gradients_bytes = per.gradient * parameters_.trained / layout.gradient_shards;
    out.optimizer_bytes = per.optimizer * parameters_.trained / layout.optimizer_shards;
    out.activations_bytes = activation_bytes_ * samples;
    out.workspace_bytes = library_workspace_bytes(workload_, micro_batch, device) + cast_bytes(training, parameters_);
    out.communication_bytes = channel_bytes(layout, device) + bucket_bytes(training, layout, out.gradients_bytes) +
                              gathered_bytes(training, layout, parameters_);
    out.context_bytes = context_bytes(device);
    out.fragmentation_bytes = fragmentation_share * out.activations_bytes;
    return out;
}

MemoryEstimate estimate_memory(const Workload& workload, const Layout& layout, std::int64_t micro_batch,
                               const Device& device) {
    return MemoryEstimator(workload).on(layout, micro_batch, device);
}

Result<MemoryEstimate> memory_on(const Workload& workload, const Allocation& allocation) {
    const auto layout = layout_of(workload, allocation);
    if (!layout) return layout.error();
    const auto micro_batch = micro_batch_of(workload.training, *layout);
    if (!micro_batch) return micro_batch.error();
    return estimate_memory(workload, *layout, *micro_batch, allocation.device);
}

Result<std::int64_t> largest_micro_batch(const Workload& workload, const Allocation& allocation) {
    const auto layout = layout_of(workload, allocation);
    if (!layout) return layout.error();
    MemoryEstimator estimator(workload);
    const auto fits = [&](std::int64_t samples) {
        const MemoryEstimate memory = estimator.on(*layout, samples, allocation.device);
        return memory.total_bytes() <= allocation.device.memory_bytes;
    };
    std::int64_t low = 0, high = 1;
    while (high < most_samples && fits(high)) low = high, high *= 2;
    while (high - low > 1) {
        const std::int64_t middle = (low + high) / 2;
        (fits(middle) ? low : high) = middle;
    }
    return low;
}

}  // namespace dlcast
