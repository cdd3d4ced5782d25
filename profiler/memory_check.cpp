// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/memory_check.h"

#include <fmt/format.h>

#include "predictor/step/memory.h"

namespace dlcast {
namespace {

constexpr double usable_share = 0.9, GiB = 1 << 30;

bool fits(double bytes, double free_bytes) { return free_bytes <= 0.0 || bytes <= usable_share * free_bytes; }

}  // namespace

Status check_memory(const ModelSpec& model, const Training& training, double free_bytes) {
    Workload whole;
    whole.model = model;
    whole.training = training;
    // The network that is built holds all of it in the width of its data.
    const bool narrow = training.precision == Precision::bf16 || training.precision == Precision::fp16;
    const double width = narrow ? 0.5 : 1.0;
    whole.training.precision = Precision::fp32;
    const MemoryEstimate need = estimate_memory(whole, Layout{}, training.batch_size, Device{});
    const double total =
        width * (need.weights_bytes + need.gradients_bytes + need.optimizer_bytes + need.activations_bytes);
    if (fits(total, free_bytes)) return ok();
    return unavailable(fmt::format(
        "a training step of {} needs about {:.1f} GiB (weights {:.1f}, gradients {:.1f}, optimizer {:.1f}, activations "
        "{:.1f}), {:.1f} GiB are free; take a smaller batch or model",
        model.name, total / GiB, width * need.weights_bytes / GiB, width * need.gradients_bytes / GiB,
        width * need.optimizer_bytes / GiB, width * need.activations_bytes / GiB, free_bytes / GiB));
}

Status check_memory(const Operator& op, double free_bytes) {
    const double total = 3.0 * bytes(op);
    if (fits(total, free_bytes)) return ok();
    return unavailable(fmt::format("its tensors need about {:.1f} GiB, {:.1f} GiB are free; take a smaller batch",
                                   total / GiB, free_bytes / GiB));
}

}  // namespace dlcast
