// SPDX-License-Identifier: GPL-2.0-or-later
// An epoch of a model of the zoo on one GPU, for tables of whole models that hold epochs instead of batches.
#pragma once

#include "cli/models_table.h"
#include "predictor/step/step_weights.h"

namespace dlcast {

/// Milliseconds of one epoch: steps of `batch` over `dataset_size` samples, forward, backward, update and the host's
/// share of a training loop. Reading and decoding the samples is no part of it. Errors: an unknown model, no batch or
/// data set size, a failing model of layer times.
Result<double> epoch_ms(const ModelsRow& row, const LayerTimeModel& model, const StepWeights& weights);

}  // namespace dlcast
