// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/model_epoch.h"

#include <fmt/format.h>

#include <cmath>

#include "predictor/model/workload.h"
#include "predictor/step/step_estimate.h"

namespace dlcast {
namespace {

Value training_of(const ModelsRow& row) {
    Value out = Value::object();
    out.set("batch_size", row.batch);
    out.set("precision", row.dtype.empty() ? "fp32" : row.dtype);
    out.set("optimizer", row.optimizer.empty() ? "none" : row.optimizer);
    out.set("framework", "pytorch");
    if (row.image_size > 0) out.set("image_size", row.image_size);
    if (row.seq_len > 0) out.set("seq_len", row.seq_len);
    return out;
}

}  // namespace

Result<double> epoch_ms(const ModelsRow& row, const LayerTimeModel& model, const StepWeights& weights) {
    if (row.batch < 1 || row.dataset_size < 1)
        return invalid_argument(fmt::format("an epoch of {} needs batch and dataset_size", row.model));
    auto declaration = read_model_argument(row.model);
    if (!declaration) return declaration.error();
    declaration->value.set("training", training_of(row));
    auto workload = to_workload(*declaration);
    if (!workload) return workload.error();
    workload->training.forward_only = !row.training;
    Allocation allocation;
    allocation.device = *row.device;
    allocation.nodes = allocation.gpus_per_node = 1;
    const auto steps = estimate_steps({{&*workload, allocation}}, model, weights);
    if (!steps) return steps.error();
    const double count = std::ceil(static_cast<double>(row.dataset_size) / static_cast<double>(row.batch));
    return 1e3 * count * steps->front().step_s;
}

}  // namespace dlcast
