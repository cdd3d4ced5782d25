// SPDX-License-Identifier: GPL-2.0-or-later
// The answer of `dlcast forecast` as text, as columns for scripts, as JSON.
#pragma once

#include <string>

#include "cli/gpu_hours_query.h"
#include "predictor/base/value.h"

namespace dlcast {

std::string gpu_hours_text(const GpuHoursAnswer& answer, const Calendar& calendar);
/// One table, fields divided by '|': Kind (total, account, user, partition, gpu), Name, then counts and hours.
std::string gpu_hours_columns(const GpuHoursAnswer& answer);
Value gpu_hours_json(const GpuHoursAnswer& answer, const Calendar& calendar);

/// What could not be used, as lines for a person; and as JSON.
std::vector<std::string> skipped_lines(const SkippedRows& skipped);
/// "left out: 12 jobs without GPUs, 3 of them with a forecast", as a line; empty where there is none.
std::string cpu_jobs_text(const SkippedRows& skipped);
Value skipped_json(const SkippedRows& skipped);
/// Rounded to a millionth of an hour: what sums of seconds hold.
double rounded_h(double hours);

}  // namespace dlcast
