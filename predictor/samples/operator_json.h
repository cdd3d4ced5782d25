// SPDX-License-Identifier: GPL-2.0-or-later
// An Operator as a JSON object: its kind, phase and precision, and the sizes that its kind has.
#pragma once

#include <string>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/base/value.h"
#include "predictor/timing/operator.h"

namespace dlcast {

/// Keys are the fields' names; fields that hold their default are left out.
Value operator_value(const Operator& op);

/// Reads the same, strictly. Errors (place, fault, remedy): unknown keys or names, a size that the kind needs and that
/// is not there, sizes beyond 2^40.
Result<Operator> read_operator(const Value& value, const std::string& source);

/// Names of the enumerators in order, for readers and messages.
std::vector<std::string> operator_kind_names();
std::vector<std::string> function_names();
std::vector<std::string> phase_names();
std::vector<std::string> optimizer_names();
std::vector<std::string> precision_names();

}  // namespace dlcast
