// SPDX-License-Identifier: GPL-2.0-or-later
// Which measured operators train the network, with what weight, and which are held out to judge it.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "cli/ops_table.h"
#include "predictor/timing/weights_manifest.h"

namespace dlcast {

struct TrainingRows {
    std::vector<OpsRow> train, held_out;
    std::array<std::vector<NamedGroup>, net_count>
        groups;  // (GPU, clock) pairs among the training rows of each network
};

struct Exclusions {
    std::vector<std::string> gpus, sources;             // case, spaces and punctuation aside
    std::vector<std::string> families, super_families;  // of whole models; no single operator has one
};

/// Is `name` one of `names`, case, spaces and punctuation aside?
bool is_listed(const std::vector<std::string>& names, const std::string& name);

/// Sorts the rows of `files`. Held out: `set` = valid, and traces of GPUs that no other row of that network trains (a
/// GPU that is only ever seen inside models is kept to judge the unseen). Neither: `set` = test...,
/// excluded GPUs and sources, rows without a time or description. Excluded rows are nowhere, so that a later evaluation
/// is of an unseen GPU.
Result<TrainingRows> collect_training_rows(const std::vector<std::string>& files, NamedDevices& devices,
                                           const Exclusions& exclusions);

/// Rows that contradict the same card's other rows of their kind, and neither train nor judge.
bool is_known_wrong(const OpsRow& row);

/// Weight of a row in the loss.
double training_weight(const OpsRow& row);

}  // namespace dlcast
