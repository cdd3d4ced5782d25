// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast evaluate memory`: the memory forecast of training steps that did run, against the memory of their GPUs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "predictor/base/value.h"
#include "predictor/device/catalog.h"

namespace CLI {
class App;
}

namespace dlcast {

/// One row of a table of steps: it ran, so its true need is not above `card_bytes`.
struct MemoryCase {
    std::string row_id, source, model, gpu, precision;
    std::int64_t batch = 0;  // samples of one GPU and micro-step
    double forecast_bytes = 0.0, card_bytes = 0.0;
    double share() const { return forecast_bytes / card_bytes; }
};

struct MemoryFigures {
    std::size_t rows = 0, above_card = 0;
    std::size_t largest = 0;          // set-ups (source, model, GPU, precision), each by its largest batch
    double median_share_largest = 0;  // of forecast over card, over those
    double maximum_share = 0;         // over all rows
};

struct MemoryEvaluation {
    std::vector<MemoryCase> cases;
    std::vector<std::string> undescribed;  // "row_id: why"
};

/// Rows of `file` (columns of `evaluate steps`; times are not looked at), forecast one by one; writes `pred_path`
/// (row_id,pred_memory_bytes,card_bytes; skipped where empty). Errors: unreadable or broken table, unwritable
/// `pred_path`.
Result<MemoryEvaluation> evaluate_memory(const std::string& file, const DeviceCatalog& catalog,
                                         const std::string& pred_path);

MemoryFigures memory_figures(const std::vector<MemoryCase>& cases);
std::map<std::string, MemoryFigures> memory_figures_by(const std::vector<MemoryCase>& cases,
                                                       std::string MemoryCase::*fact);

std::string to_text(const MemoryEvaluation& evaluation);
/// {"rows","above_card","largest_batches","median_share_of_card","maximum_share_of_card","by":{..},"above":[..]}
Value to_value(const MemoryEvaluation& evaluation);

/// Adds the verb to `evaluate`; when it is chosen, `exit_code` is set: 0 done, 1 refused input.
void add_evaluate_memory(CLI::App& evaluate, int& exit_code);

}  // namespace dlcast
