// SPDX-License-Identifier: GPL-2.0-or-later
// The models of a command line, as dlcast-profile and dlcast-sweep take them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/points.h"

namespace dlcast {

struct ModelOptions {
    std::vector<std::string> models;
    std::optional<std::int64_t> batch_size = {}, seq_len = {}, image_size = {};
    std::string precision = {}, optimizer = {};  // "": as the model declares
};

/// Each model read, with these options (check_words) over its declaration. Errors: those of the model.
Result<std::vector<ProfiledModel>> read_models(const ModelOptions& options);

/// What is wrong with a name of --device; "": nothing. For Option::check.
std::string device_fault(const std::string& text);

/// Words of a command line that are wrong whatever the models are: a precision that is unknown or that no library
/// measures, an unknown optimizer, a budget that is no time. The
/// error names the option and what would do.
Status check_words(const ModelOptions& options, std::string_view budget);

/// "90", "90s", "10min", "1h", "1h30min": seconds. Errors: anything else, nothing.
Result<double> parse_budget_s(std::string_view text);

/// The name this host goes by.
std::string host_name();

}  // namespace dlcast
