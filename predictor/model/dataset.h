// SPDX-License-Identifier: GPL-2.0-or-later
// Public data sets: how many samples an epoch has and how they look.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/base/value.h"
#include "predictor/model/workload.h"

namespace dlcast {

/// The data set of that name (case, '-', '_' and organisation aside), or nothing.
std::optional<Dataset> find_dataset(std::string_view name);
std::vector<std::string> dataset_names();

/// A name, or an object {name, samples, validation_samples, classes, seq_len, image_size, bytes, masked_tokens};
/// members win over what is known of the name. `tokens` of a text corpus becomes samples where the sequence length is
/// known.
Result<Dataset> read_dataset(const Value& value, const std::string& source);

}  // namespace dlcast
