// SPDX-License-Identifier: GPL-2.0-or-later
// Measured training steps as the step-time model learns them.
#pragma once

#include <string>
#include <vector>

#include "cli/step_errors.h"
#include "cli/steps_table.h"
#include "predictor/base/result.h"
#include "predictor/device/catalog.h"
#include "predictor/step/anchor_correction.h"
#include "predictor/step/step_fit.h"

namespace dlcast {

/// Has a measured time, and quality A or B or none stated.
bool is_scored(const StepsRow& row);

/// Group, facts and measured time of a scored row.
StepError facts_of(const StepsRow& row);

struct TrainingStep {
    std::string row_id;
    StepError facts;           // group, source, family, ...; measured_ms
    std::string model_family;  // ModelSpec::family
    std::string setup;         // source, family, framework, precision and mode
    AnchorFacts anchor;
    MeasuredStepWork measured;
};

struct StepExclusions {
    std::vector<std::string> gpus, families, super_families, sources;  // as the table's columns write them
};

struct TrainingSteps {
    std::vector<TrainingStep> steps;
    std::vector<std::string> undescribed;  // "row_id: why"
};

/// What a case is told apart by in tables of errors.
const std::vector<std::string>& step_facts();

/// Kinds of models that share an architecture: BERT, GPT, MPT, Llama, other transformers, and convolutional networks. A
/// fold of a cross-validation that leaves one out says what a forecast for a new kind is worth.
std::string super_family_of(const std::string& family);

/// Rows with a measured time and of quality A or B (or of none stated), the excluded ones left out. Weights: one family
/// of n cases counts as 8 n^0.6 rows, a case's rows share its weight, quality B counts 0.6. Errors: unreadable file,
/// broken CSV.
Result<TrainingSteps> read_training_steps(const std::vector<std::string>& files, const DeviceCatalog& catalog,
                                          const StepExclusions& exclusions,
                                          const FittedCollectives& collectives = shipped_collectives());

/// Fits to every step for which `use` holds.
template <typename Use>
StepFit fit_where(const std::vector<TrainingStep>& steps, Use use) {
    std::vector<const MeasuredStepWork*> rows;
    for (const TrainingStep& step : steps)
        if (use(step)) rows.push_back(&step.measured);
    return fit_steps(rows);
}

}  // namespace dlcast
