// SPDX-License-Identifier: GPL-2.0-or-later
// What the command line changes in a declaration.
#pragma once

#include "predictor/base/result.h"
#include "predictor/base/value.h"
#include "predictor/model/workload.h"

namespace dlcast {

/// The declaration's tree with the overrides written into it. Each `set` is "dotted.key=value": a value that reads as
/// JSON is that, else a string; missing objects on the way are made. A duration replaces the declaration's. Errors: no
/// "=", an empty or unknown first key, a key inside something that is no object; messages start with
/// `option`.
Result<Value> apply_overrides(const Declaration& declaration, const WorkloadOverrides& overrides,
                              const std::string& option = "--set");

/// As read_model_argument (workload.h); what the model's file leaves open takes the sizes that `overrides` state.
Result<Declaration> read_model_argument(const std::string& argument, const WorkloadOverrides& overrides);

/// An assignment of `set` as it was written: "--set training.grad_accum=4", "--train grad_accum=4".
std::string option_text(const WorkloadOverrides& overrides, std::size_t index);

/// "key=value,key=value" as assignments for `set`: keys are those of "training", `dataset` and `dataset.KEY` aside.
/// `option` starts messages.
Result<std::vector<std::string>> training_assignments(const std::string& text, const std::string& option);
/// The same as overrides; none where the text is empty or cannot be read, which with_training tells.
WorkloadOverrides overrides_of(const std::string& text, const std::string& option);
/// The declaration with "key=value,key=value" written over its training: keys are those of "training"; `dataset` names
/// the data set and `dataset.KEY` a member of it. A duration replaces the declaration's. `option` starts messages.
Result<Declaration> with_training(const Declaration& declaration, const std::string& text, const std::string& option);

/// `error`, of a workload whose training with_training changed by `text`: with the option in front where `plain`, the
/// declaration without it, has none.
Error blame_training(const Declaration& plain, const std::string& text, const std::string& option, Error error);

}  // namespace dlcast
