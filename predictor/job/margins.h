// SPDX-License-Identifier: GPL-2.0-or-later
// The margins file: how far above its median forecast a job's limit must lie, so that of the jobs that finished lately
// no more than the site's kill rate would have been killed. `dlcast report --write-margins` writes it, the controller
// reads it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "predictor/base/result.h"

namespace dlcast {

/// One group of finished jobs. An empty partition or class stands for all.
struct Margin {
    std::string partition, model_class;
    std::int64_t jobs = 0;    // it rests on
    double deviations = 0.0;  // ln(limit / median) over the forecast's standard deviation of ln(run time)
};

struct Margins {
    double kill_rate = 0.0;
    std::int64_t calibrated_at_s = 0;  // since the epoch
    std::vector<Margin> rows;

    /// Of the partition and the model's class; else of the partition, of the class, of all jobs. nullptr: of none.
    const Margin* find(std::string_view partition, std::string_view model) const;
};

/// limit / median. A forecast that claims next to no spread is taken to have `least_log_sd`.
double margin_factor(const Margin& margin, double log_sd);
constexpr double least_log_sd = 0.02;

/// "vgg16" -> "vgg", "Llama-3.2-1B" -> "llama", "org/bert-base" -> "bert": models that err alike.
std::string model_class(std::string_view model);

/// Errors: bad TOML, unknown key, value out of range, with line and column.
Result<Margins> parse_margins(std::string_view text, const std::string& source);
std::string write_margins(const Margins& margins);

}  // namespace dlcast
